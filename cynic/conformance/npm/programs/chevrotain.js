import { createToken, Lexer, EmbeddedActionsParser } from "chevrotain";
const N = createToken({ name: "N", pattern: /\d+/ }), Plus = createToken({ name: "Plus", pattern: /\+/ }), Times = createToken({ name: "Times", pattern: /\*/ });
const L = createToken({ name: "L", pattern: /\(/ }), R = createToken({ name: "R", pattern: /\)/ }), W = createToken({ name: "W", pattern: /\s+/, group: Lexer.SKIPPED });
const tokens = [W, N, Plus, Times, L, R], lexer = new Lexer(tokens);
class Calc extends EmbeddedActionsParser {
  constructor() {
    super(tokens);
    const $ = this;
    $.RULE("sum", () => { let v = $.SUBRULE($.product); $.MANY(() => { $.CONSUME(Plus); v += $.SUBRULE2($.product); }); return v; });
    $.RULE("product", () => { let v = $.SUBRULE($.atom); $.MANY(() => { $.CONSUME(Times); v *= $.SUBRULE2($.atom); }); return v; });
    $.RULE("atom", () => $.OR([{ ALT: () => Number($.CONSUME(N).image) }, { ALT: () => { $.CONSUME(L); const v = $.SUBRULE($.sum); $.CONSUME(R); return v; } }]));
    this.performSelfAnalysis();
  }
}
const calc = new Calc();
for (const text of ["1 + 2 * 3", "(1+2)*(3+4)", "2 * (3 +", "7 @ 8"]) {
  const lexed = lexer.tokenize(text);
  calc.input = lexed.tokens;
  console.log(calc.sum(), calc.errors.map((e) => `${e.name}: ${e.message}`), lexed.errors.map((e) => e.message));
}
