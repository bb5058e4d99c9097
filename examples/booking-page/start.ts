import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCrosswardClient } from '../../client/src/index.ts';
import { readEnvironment } from '../../server/src/config/environment/environment.ts';
import { createBookingPage } from './app.ts';

const pagePort = Number(process.env.PAGE_PORT || 8088);

// A demo of its own, whose data is deleted at the end.
const folder = join(mkdtempSync(join(tmpdir(), 'crossward-booking-page-')), randomBytes(4).toString('hex'));
delete process.env.DATABASE_URL;
delete process.env.CROSSWARD_CONFIG;
Object.assign(process.env, { HOST: '127.0.0.1', CROSSWARD_DATA_DIR: folder });
process.once('exit', () => rmSync(join(folder, '..'), { recursive: true, force: true }));

// Runs the gateway. Ctrl-C shuts it down gracefully, and then this process.
await import('../../server/src/main.ts');

const baseUrl = `http://127.0.0.1:${readEnvironment().port}`;
const { client_id, client_secret } = JSON.parse(await readFile(join(folder, 'demo-client.json'), 'utf8'));
const client = createCrosswardClient({ baseUrl, clientId: client_id, clientSecret: client_secret });
const { name, time_zone, language } = await client.careUnits('sandbox-se').get('sodermalm');
const page = createBookingPage({
  careUnit: client.careUnit('sandbox-se', 'sodermalm'),
  clinic: name,
  timeZone: time_zone,
  language,
  // Put your sign-in here. The demo has one patient, who is synthetic.
  patientOf: () => 'emr_id:p-3',
});
const address = await page.listen({ host: '127.0.0.1', port: pagePort });
process.stdout.write(`
  Page for patients            ${address}
  Codes sent to patients       ${baseUrl}/demo/messages

Ctrl-C stops the page and its gateway.
`);
