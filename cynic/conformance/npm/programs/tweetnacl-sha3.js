import nacl from "tweetnacl";
import sha3 from "js-sha3";
const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
const seed = Uint8Array.from({ length: 32 }, (_, i) => i * 7), nonce = new Uint8Array(24).fill(9), message = new TextEncoder().encode("hello nacl ✓");
const box = nacl.secretbox(message, nonce, seed), pair = nacl.sign.keyPair.fromSeed(seed), boxes = nacl.box.keyPair.fromSecretKey(seed);
console.log(hex(box), new TextDecoder().decode(nacl.secretbox.open(box, nonce, seed)), hex(pair.publicKey));
console.log(hex(nacl.sign.detached(message, pair.secretKey)), hex(nacl.box(message, nonce, boxes.publicKey, seed)), hex(nacl.hash(message)).slice(0, 40));
console.log(sha3.keccak256("abc"), sha3.sha3_512("é"), sha3.shake256("x", 128), sha3.cshake128("x", 64, "n", "c"));
