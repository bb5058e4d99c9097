// Books, confirms, moves and cancels appointments in the demo, and prints each request and response: npm run demo
import { createCrosswardClient } from '../../client/src/index.ts';
import { findDemo } from './demo-gateway.ts';
import { mailboxOf } from './mailbox.ts';
import { print, printingFetch } from './print.ts';
import { walk } from './walk.ts';

const demo = await findDemo();
try {
  const client = createCrosswardClient({
    baseUrl: demo.address,
    clientId: demo.clientId,
    clientSecret: demo.clientSecret,
    fetch: printingFetch,
    // Easier to read. These ids are not those of people.
    identifiers: 'url',
  });
  await walk(client, mailboxOf(demo.address));
  print('done', `That was it. ${demo.isOwn ? 'npm start starts a demo that stays.' : `More: ${demo.address}/`}`);
} catch (error) {
  print('failed', error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await demo.stop();
}
