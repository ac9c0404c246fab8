// One conversation over every tool with the official SDK: `node conversation.mjs stdio PITHOS FOLDER` or `node conversation.mjs http URL TOKEN`.
// Prints one JSON object: what was listed and what came back.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [kind, target, second] = process.argv.slice(2);
const transport =
  kind === 'stdio'
    ? new StdioClientTransport({ command: target, args: ['serve', '--cwd', second] })
    : new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: { Authorization: `Bearer ${second}` } } });
const client = new Client({ name: 'pithos-test', version: '1' });
await client.connect(transport);

const { tools } = await client.listTools();
// The SDK checks every structured result against the schema that was listed.
const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  return { error: result.isError ?? false, text: result.content[0].text, ...result.structuredContent };
};
const counter = '({receive(state, message, actor) { if (message === "read") actor.reply(state); else return state + message; }})';
const results = {
  run: await call('run', { command: 'x=41; echo hi' }),
  again: await call('run', { command: 'echo $((x + 1)); false | true' }),
  background: await call('run', { command: "/bin/sh -c 'echo ready; while :; do /bin/sleep 60; done'", background: true }),
};
const job = results.background.job;
results.wait = await call('job', { action: 'wait', job, until: '^ready$', timeout_ms: 5000 });
results.stop = await call('job', { action: 'stop', job });
results.log = await call('log', { action: 'grep', job, pattern: '^ready$' });
results.session = await call('session', { action: 'list' });
results.js = await call('js', { code: '(await shell("echo $x")).output.trim() + 1' });
results.spawn = await call('actors', { action: 'spawn', group: 'g', code: counter, count: 10, argument: 1 });
await call('actors', { action: 'send', to: 'g', message: 2 });
results.ask = await call('actors', { action: 'ask', to: 'g', message: 'read' });
results.wrong = await call('run', { comand: 'typo' });
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), results }));
