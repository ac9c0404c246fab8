import LZString from "lz-string";
const text = "lorem ipsum ☃ ".repeat(40) + JSON.stringify({ a: [1, 2, 3] });
const packed = LZString.compress(text);
console.log(packed.length, LZString.decompress(packed) === text, LZString.compressToBase64(text), LZString.compressToEncodedURIComponent("hello hello"), LZString.compressToUint8Array("abcabc").join(), LZString.decompressFromUTF16(LZString.compressToUTF16(text)).length);
