import { afterAll, expect, test } from 'vitest';
import { connector as clinic } from '../../template-booking/src/connector.ts';
import { startEhr } from '../../template-booking/src/ehr-server.ts';
import { contextFor } from '../../template-booking/src/second.ts';
import { facts } from '../../template-booking/src/subject.ts';
import type { Connector } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import type { EhrHttp, EhrRequest } from '../http.ts';
import { outcomeOf } from './broken.test-support.ts';
import { plainHttp } from './plain-http.ts';
import type { Subject } from './subject.ts';

const server = await startEhr();
afterAll(() => server.close());
const careUnit = { id: 'clinic', timeZone: 'Europe/London' };

interface Defects {
  /** Alters each request. */
  readonly request?: (request: EhrRequest) => EhrRequest;
  /** Makes a write. */
  readonly write?: (make: () => ReturnType<Write>, read: () => Promise<void>) => ReturnType<Write>;
}
type Write = NonNullable<Connector['changeAppointments']>;

/** The connector of the template, with something after each write. */
async function subject({ request = (it) => it, write = (make) => make() }: Defects): Promise<Subject> {
  const plain = plainHttp();
  const http: EhrHttp = { ...plain, send: (it) => plain.send(request(it)) };
  const right = await clinic.open(contextFor(server.url, { http }));
  const read = async () => void (await right.findPatient?.({ type: 'emr_id', value: '1001' }));
  const changeAppointments = right.changeAppointments as Write;
  return {
    name: 'clinic',
    connector: { ...right, changeAppointments: (it) => write(() => changeAppointments(it), read) },
    careUnit,
    facts,
  };
}

const says = 'says which request writes';
const booking = 'a booking is not told as not made when the requests after it fail';
const cancellation = 'a cancellation is not told as not made when the requests after it fail';

/** Reads after each write, and throws what it meets. */
const naive: Defects = {
  async write(make, read) {
    const made = await make();
    await read();
    return made;
  },
};

test.each([says, booking, cancellation, 'a move is not told as not made when the requests after it fail'])(
  'a connector that throws whatever follows a write passes: %s',
  async (check) => {
    expect(await outcomeOf(await subject(naive), 'failed-reads', check)).toMatchObject({ outcome: 'passed' });
  },
);

const denies: Defects = {
  async write(make, read) {
    try {
      const made = await make();
      await read();
      return made;
    } catch (cause) {
      throw new ConnectorError('unavailable', 'Try again', { cause, nothingChanged: true });
    }
  },
};

test.each<[string, Defects, string, string]>([
  ['does not say that a repeatable write writes', { request: withoutWrites }, says, 'none of its requests says so'],
  [
    'takes an answer for a refusal',
    { request: (it) => ({ ...it, refused: () => true }) },
    says,
    'none of its requests says so',
  ],
  ['says that nothing was changed, though a booking stands', denies, booking, 'told as not made'],
  ['says that nothing was changed, though a cancellation is made', denies, cancellation, 'told as not made'],
])('the kit catches a connector that %s', async (_, defects, check, reason) => {
  const result = await outcomeOf(await subject(defects), 'failed-reads', check);
  expect(result).toMatchObject({ outcome: 'failed', reason: expect.stringContaining(reason) });
});

function withoutWrites(request: EhrRequest): EhrRequest {
  return { ...request, repeatable: true };
}
