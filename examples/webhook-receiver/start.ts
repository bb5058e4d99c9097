// Prints the events of the demo as they happen: npm run example:webhooks
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCrosswardClient } from '../../client/src/index.ts';
import { findRunningDemo } from '../walkthrough/demo-gateway.ts';
import { createReceiver } from './receiver.ts';

const demo = await findRunningDemo();
if (!demo) {
  process.stderr.write(
    'No demo is running here. Run npm start in another terminal, with the same PORT and CROSSWARD_DATA_DIR if you set them.\n',
  );
  process.exit(1);
}
const { webhookEndpoints } = createCrosswardClient({
  baseUrl: demo.address,
  clientId: demo.clientId,
  clientSecret: demo.clientSecret,
});

// The URL has to be known before the gateway gives the endpoint its secret.
const server = createServer();
server.listen(Number(process.env.RECEIVER_PORT || 0), '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const { id, secret } = await webhookEndpoints.create({ url: `http://127.0.0.1:${port}/events` });
const receiver = createReceiver({
  secret,
  onEvent({ type, data }) {
    process.stdout.write(`${type}\n${JSON.stringify(data, null, 2)}\n`);
  },
});
server.on('request', (request, response) => receiver.emit('request', request, response));
process.stdout.write(`
Receiving the events of ${demo.address} at http://127.0.0.1:${port}/events. Book something there.
Ctrl-C stops this and deletes the endpoint.

`);
await webhookEndpoints.test(id);

const stop = async () => {
  await webhookEndpoints.delete(id);
  server.close();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stop().finally(() => process.exit()));
