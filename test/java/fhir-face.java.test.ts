import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Subscription } from '@medplum/fhirtypes';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { Configuration } from '../../server/src/config/configuration.ts';
import { backport } from '../../server/src/fhir-face/subscriptions/urls.ts';
import { fhirClient } from '../../server/src/fhir-face/test-requests.ts';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { book, oslo, sodermalm } from '../requests/bookings.ts';
import { eventually } from '../requests/codes.ts';
import { startReceiver, withQuickWebhooks } from '../requests/webhook-receiver.ts';

const run = promisify(execFile);
const fileAt = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Why the test cannot run here, if it cannot. */
async function whatIsMissing(): Promise<string | undefined> {
  const java = await run('java', ['--version']).catch(() => undefined);
  if (!java || Number(/ (\d+)/.exec(java.stdout)?.[1]) < 17) return 'Java 17 is missing';
  return run('mvn', ['--version']).then(
    () => undefined,
    () => 'Maven is missing',
  );
}

/** The jars of pom.xml. Maven keeps what it has downloaded. */
async function downloadJars(): Promise<string> {
  const file = join(inject('runFolder'), 'class-path');
  await run('mvn', ['-B', '-q', '-f', fileAt('pom.xml'), 'dependency:build-classpath', `-Dmdep.outputFile=${file}`]);
  return readFile(file, 'utf8');
}

/** The validator does not know R5, from which this element is backported. */
const knownFault =
  "Extension url 'http://hl7.org/fhir/5.0/StructureDefinition/extension-Schedule.name' is not valid (invalid Version '5.0')";

const publication = {
  booking_url: 'https://book.example.org/?slot={slot}',
  website: 'https://clinic.example.org',
  address: { lines: ['Storgata 1'], city: 'Oslo', state: 'Oslo', postal_code: '0155' },
};

function withPublicTimes(configuration: Configuration): Configuration {
  const emrs = configuration.emrs.map((emr) => ({
    ...emr,
    care_units: emr.care_units.map((it) => (it.id === 'oslo-sentrum' ? { ...it, publication } : it)),
  }));
  return { ...configuration, emrs };
}

/** A file with the notifications of a Subscription and what the face says of it, one a line. */
async function notificationsIn(gateway: Gateway): Promise<string> {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const fhir = fhirClient(gateway, oslo);
  const { body, text } = await fhir.post<Subscription>('/Subscription', {
    resourceType: 'Subscription',
    status: 'requested',
    reason: 'validation',
    criteria: 'urn:crossward:subscription-topic:appointment-booked',
    channel: {
      extension: [{ url: backport.heartbeat, valueUnsignedInt: 60 }],
      type: 'rest-hook',
      endpoint: receiver.url,
      payload: 'application/fhir+json',
      _payload: { extension: [{ url: backport.content, valueCode: 'full-resource' }] },
      header: ['Authorization: Bearer secret'],
    },
  });
  await book(gateway);
  await eventually(async () => expect(receiver.received).toHaveLength(2));
  const paths = ['$status', `${body.id}/$status`, `${body.id}/$events`, String(body.id)];
  const shown = await Promise.all(paths.map(async (path) => (await fhir.get(`/Subscription/${path}`)).text));
  const file = join(inject('runFolder'), 'notifications');
  await writeFile(file, [text, ...shown, ...receiver.received.map((it) => it.body)].join('\n'));
  return file;
}

test("HAPI's client books in FHIR, and HAPI's validator accepts each response", async ({ skip }) => {
  const missing = await whatIsMissing();
  if (missing !== undefined) {
    process.stderr.write(`Java test skipped. ${missing}\n`);
    return skip(missing);
  }
  const jars = await downloadJars();
  const gateway = await startGateway({ configure: (it) => withQuickWebhooks(withPublicTimes(it)) });
  onTestFinished(() => gateway.close());
  const { id, secret } = gateway.credentials('everything');
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const baseOf = (careUnit: string) => `http://127.0.0.1:${gateway.port}${careUnit}/fhir-r4`;
  const { stdout } = await run('java', ['-cp', jars, fileAt('BookInFhir.java')], {
    env: {
      ...process.env,
      FHIR_BASE: baseOf(oslo),
      FHIR_BASE_WITH_CODES: baseOf(sodermalm),
      FHIR_BASE_OF_ALL: baseOf('/api'),
      NOTIFICATIONS: await notificationsIn(gateway),
      RECEIVER: receiver.url,
      CROSSWARD_CLIENT_ID: id,
      CROSSWARD_CLIENT_SECRET: secret,
    },
  });
  const { responses, faults, ...result } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  expect(responses).toBeGreaterThan(20);
  expect(faults.filter((it: string) => !it.endsWith(knownFault))).toEqual([]);
  expect(result).toEqual({
    patients: 1,
    paged: true,
    created: [true, false],
    booked: ['booked', true],
    taken: [422, 'conflict'],
    moved: true,
    stale: [412, 'conflict'],
    cancelled: 'cancelled',
    inXml: [true, [422, 'conflict'], true, 'cancelled', true],
    subscribed: ['active', 1, 'off', 'X-Token: ********'],
    withCode: ['pending', 'cancelled'],
    operations: ['confirm', 'resend-code'],
    anywhere: [true, 'cancelled'],
    published: ['Location', 'Schedule', 'Slot'],
  });
});
