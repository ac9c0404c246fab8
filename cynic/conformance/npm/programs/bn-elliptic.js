import BN from "bn.js";
import elliptic from "elliptic";
const a = new BN("dead".repeat(16), 16), b = new BN("98765432109876543210987654321");
console.log(a.mul(b).toString(), a.divmod(b).mod.toString(16), a.toRed(BN.red("k256")).redPow(b).toString(36), b.invm(new BN("1000000007")).toString(), a.gcd(b).toString());
const ec = new elliptic.ec("secp256k1"), key = ec.keyFromPrivate("1".repeat(64), "hex");
const signature = key.sign("ab".repeat(32), { canonical: true });
console.log(key.getPublic(true, "hex"), signature.toDER("hex"), key.verify("ab".repeat(32), signature), key.verify("ac".repeat(32), signature));
const ed = new elliptic.eddsa("ed25519").keyFromSecret("01".repeat(32));
console.log(ed.sign("68656c6c6f").toHex(), ed.getPublic("hex"));
