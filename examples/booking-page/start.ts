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
const places = [
  { emr: 'sandbox-se', care_unit_id: 'sodermalm' },
  { emr: 'sandbox-no', care_unit_id: 'oslo-sentrum' },
  { emr: 'sandbox-uk', care_unit_id: 'riverside' },
];
const clinics = await Promise.all(
  places.map(async (place, n) => {
    const { name, time_zone, language } = await client.careUnits(place.emr).get(place.care_unit_id);
    return { place, name, timeZone: time_zone, language, url: `http://127.0.0.1:${pagePort + n}` };
  }),
);
for (const { place, name, timeZone, language, url } of clinics) {
  const page = createBookingPage({
    careUnit: client.careUnit(place.emr, place.care_unit_id),
    clinic: name,
    timeZone,
    language,
    nearby: { timeSlots: client.timeSlots, clinics },
    // Put your sign-in here. Each EHR of the demo has this patient, who is synthetic.
    patientOf: () => 'emr_id:p-3',
  });
  await page.listen({ host: '127.0.0.1', port: Number(new URL(url).port) });
}
process.stdout.write(`
${clinics.map(({ name, url }) => `  ${`Page of ${name}`.padEnd(28)} ${url}`).join('\n')}
  Codes sent to patients       ${baseUrl}/demo/messages

Ctrl-C stops the pages and their gateway.
`);
