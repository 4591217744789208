// Run by a test: FOLDER PORT CA N WINDOW sends N records with npm's lumberjack-protocol, and ends when all are acknowledged.
const path = require('path');
const fs = require('fs');
const [folder, port, ca, n, windowSize] = process.argv.slice(2);
const ClientSocket = require(path.join(folder, 'node_modules', 'lumberjack-protocol')).ClientSocket ||
  require(path.join(folder, 'node_modules', 'lumberjack-protocol', 'lib', 'ClientSocket'));

const client = new ClientSocket({windowSize: Number(windowSize), allowDrop: () => false});
client.on('error', (error) => { console.error(error); process.exit(1); });
client.on('ack', (sequence) => { if (sequence === Number(n)) process.exit(0); });
client.on('connect', () => {
  const send = (number) => {
    if (number < Number(n)) client.writeDataFrame({number: String(number)}, () => send(number + 1));
  };
  send(0);
});
client.connect({host: '127.0.0.1', port: Number(port), servername: 'localhost', ca: [fs.readFileSync(ca)]});
