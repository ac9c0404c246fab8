import { createElement as h, useState, useReducer, useId, memo, forwardRef, createContext, useContext, Suspense } from "react";
import { renderToStaticMarkup, renderToString } from "react-dom/server.edge";
const Ctx = createContext({ lang: "en" });
const Row = memo(({ n }) => h("tr", { "data-n": n, className: n % 2 ? "odd" : "even", style: { marginTop: n, WebkitFlex: 1 } }, h("td", { colSpan: 2 }, `<${n}>`, useContext(Ctx).lang)));
const App = () => { const [xs] = useState([1, 2, 3]), [c] = useReducer((a, b) => a + b, 7), id = useId(); return h(Ctx.Provider, { value: { lang: "fr" } }, h("label", { htmlFor: id }, "c", c), h("input", { id, defaultValue: "v\"", readOnly: true }), h("table", null, h("tbody", null, xs.map((n) => h(Row, { key: n, n }))))); };
console.log(renderToStaticMarkup(h(App))); console.log(renderToString(h(App)));
