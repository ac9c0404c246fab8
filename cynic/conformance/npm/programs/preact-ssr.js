import { h, Fragment, createContext } from "preact";
import { useState, useMemo, useContext } from "preact/hooks";
import { render } from "preact-render-to-string";
import htm from "htm";
const html = htm.bind(h), Theme = createContext("light");
const Item = ({ x, children }) => { const theme = useContext(Theme), [n] = useState(() => x * 2), label = useMemo(() => `n${n}`, [n]); return html`<li class=${theme} key=${x} style=${{ width: x, color: "red" }}>${label} ${children}</li>`; };
console.log(render(html`<${Theme.Provider} value="dark"><ul id="l" ...${{ "data-z": 1 }}>${[1, 2, 3].map((x) => html`<${Item} x=${x}>a & ${x > 1 && html`<b dangerouslySetInnerHTML=${{ __html: "<i>" }} />`}<//>`)}</ul><input checked disabled=${false} value='"q"' /></>`));
console.log(render(h(Fragment, null, "x", null, 5, [h("br")]), null, { pretty: true }));
