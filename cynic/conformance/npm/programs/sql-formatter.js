import { format } from "sql-formatter";
console.log(format("select a.id, count(*) as n, case when x > 1 then 'y' else \"z\" end from tbl a left join other o on o.id = a.oid where a.b in (select c from d) and e between 1 and 2 group by a.id having n > 3 order by n desc limit 10; insert into t (a,b) values (1, $1), (2, :p)", { language: "postgresql", keywordCase: "upper" }));
console.log(format("WITH q AS (SELECT 1) SELECT * FROM q CROSS APPLY f(@x) -- c\n", { language: "tsql", tabWidth: 4 }));
try { format("select (", { language: "sql" }); } catch (error) { console.log(error.message.split("\n")[0]); }
