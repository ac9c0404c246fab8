import { XMLParser, XMLBuilder, XMLValidator } from "fast-xml-parser";
const xml = '<?xml version="1.0"?><!-- c --><root a="1"><item id="x">t&lt;e</item><item id="y"><![CDATA[<raw>]]></item><n>3.50</n><empty/><ns:tag xml:lang="de">é</ns:tag></root>';
const value = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "@", cdataPropName: "#cdata" }).parse(xml);
console.log(JSON.stringify(value), new XMLBuilder({ format: true, ignoreAttributes: false, attributeNamePrefix: "@" }).build(value));
console.log(XMLValidator.validate("<a><b></a>"), JSON.stringify(new XMLParser({ preserveOrder: true }).parse("<p>one<b>two</b>three</p>")));
