import Papa from "papaparse";
const text = 'name,qty,note\n"Smith, ""J""",3,"line\nbreak"\nÅsa,4.5,\n#skip,1,2\nlast,-1e3,true\n';
console.log(Papa.parse(text, { header: true, dynamicTyping: true, comments: "#", skipEmptyLines: true }).data);
console.log(Papa.parse("a;b;c\n1;2\n3;4;5;6", { header: true }).errors);
console.log(Papa.unparse([{ a: 'q"x', b: 1 }, { a: "y,z", b: null }], { quotes: [true, false] }));
