import CryptoJS from "crypto-js/crypto-js.js";
console.log(CryptoJS.MD5("x").toString(), CryptoJS.SHA512("abc").toString(CryptoJS.enc.Base64), CryptoJS.RIPEMD160("abc").toString(), CryptoJS.HmacSHA1("m", "k").toString());
const key = CryptoJS.enc.Hex.parse("000102030405060708090a0b0c0d0e0f"), iv = CryptoJS.enc.Hex.parse("f0e0d0c0b0a090807060504030201000");
for (const mode of ["CBC", "CTR", "CFB", "OFB", "ECB"]) console.log(mode, CryptoJS.AES.encrypt("attack at dawn, all of us", key, { iv, mode: CryptoJS.mode[mode] }).toString());
console.log(CryptoJS.TripleDES.decrypt(CryptoJS.TripleDES.encrypt("secret ☃", key, { iv }).toString(), key, { iv }).toString(CryptoJS.enc.Utf8), CryptoJS.PBKDF2("p", "s", { keySize: 4, iterations: 20 }).toString(), CryptoJS.RC4.encrypt("abc", key).toString());
