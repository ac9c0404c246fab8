import { parse, parseExpression } from "@babel/parser";
const file = parse(`type A<T> = { [K in keyof T]?: T[K] }; enum E { A = 1, B } const x = <div a={1}>{...c}</div>; @dec class C { accessor p = 1; declare q: string }`,
  { sourceType: "module", plugins: ["typescript", "jsx", "decorators", "decoratorAutoAccessors"] });
console.log(file.program.body.map((node) => `${node.type}@${node.loc.start.line}:${node.loc.start.column}-${node.end}`));
console.log(JSON.stringify(parseExpression("a?.b?.[c]?.(d ?? e) |> f", { plugins: [["pipelineOperator", { proposal: "fsharp" }]] })).length);
const bad = parse("let x = 1; let x = 2; return", { errorRecovery: true });
console.log(bad.errors.map((error) => `${error.code} ${error.reasonCode} ${error.message}`));
