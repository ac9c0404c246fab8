import Decimal from "decimal.js";
import BigNumber from "bignumber.js";
import Big from "big.js";
Decimal.set({ precision: 60 });
console.log(new Decimal(2).sqrt().toString(), Decimal.exp(1).toString(), Decimal.acos(-1).toString(), new Decimal("123.456e-70").ln().toFixed(40));
console.log(new BigNumber("1e500").div("7").toFixed(3).length, new BigNumber("ff.8", 16).toString(2), new BigNumber(1).div(3).toFormat(20), new BigNumber("123456789.987").toFormat(2));
console.log(new Big("0.1").plus("0.2").eq("0.3"), new Big(2).pow(-100).toString(), new Big("1234.5678").round(2, 3).toExponential());
console.log(new Decimal(0.7).toFraction(1000).join("/"), Decimal.hypot(3, 4, 12).toString(), new Decimal("0x1.8p+5").toString());
