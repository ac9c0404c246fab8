import { parse } from "csv-parse/browser/esm/sync";
const rows = parse('id|name|when\n1|"a|b"|2020-01-02\n2|  c  |2021-03-04\n\n3|"q""q"|', { columns: true, delimiter: "|", trim: true, skip_empty_lines: true, cast: (v, c) => (c.column === "id" ? Number(v) : v) });
console.log(rows);
try { parse('a,b\n1,2,3', { columns: true }); } catch (error) { console.log(error.code, error.message); }
