import Fraction from "fraction.js";
import Long from "long";
console.log(new Fraction("9.4'31'").toFraction(true), new Fraction(1.1).div("3/7").toString(), new Fraction("0.(3)").toContinued(), new Fraction(-0.125).abs().toLatex());
console.log(Long.fromString("9223372036854775807").add(1).toString(), Long.fromString("-123456789012345").mul(987654321).toString(36), Long.MAX_UNSIGNED_VALUE.shiftRightUnsigned(13).toString(16), Long.fromNumber(-7).div(2).mod(3).toNumber(), Long.fromBits(-1, 5, true).toBytesBE().join());
