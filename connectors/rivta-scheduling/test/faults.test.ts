import { ConnectorError } from '@crossward/connector-kit';
import { describe, expect, test } from 'vitest';
import { patients } from '../fake/data-set.ts';
import type { Mishap } from '../fake/server.ts';
import { careUnit, idOf } from './subject.ts';
import { creationOf, withFake } from './with-fake.ts';

const codes = Array.from({ length: 15 }, (_, index) => `VP0${String(index + 1).padStart(2, '0')}`);
const outages = ['VP008', 'VP009', 'VP012'];
const text = (code: string) => `${code} Fel i tjänsteplattformen. Se https://example.org/VP${code}`;
const list = { careUnit, patientId: idOf(patients.first), limit: 10 };

async function read(mishaps: readonly Mishap[]) {
  const { fake, connector } = await withFake();
  const queue = [...mishaps];
  fake.mishaps.set('GetSubjectOfCareSchedule', queue);
  const [outcome] = await Promise.allSettled([connector.listAppointments?.(list)]);
  return { outcome, sent: mishaps.length - queue.length };
}

async function write(mishaps: readonly Mishap[]) {
  const { fake, connector, freeSlots, change } = await withFake();
  const [slot] = await freeSlots();
  if (!slot) throw new Error('No free slot');
  const queue = [...mishaps];
  fake.mishaps.set('MakeBooking', queue);
  const [outcome] = await Promise.allSettled([change(creationOf(slot))]);
  return { outcome, sent: mishaps.length - queue.length, booked: fake.calendar.bookings.size, connector, slot };
}

function kindOf(outcome: PromiseSettledResult<unknown>): string {
  if (outcome.status === 'fulfilled') return 'done';
  return outcome.reason instanceof ConnectorError ? outcome.reason.kind : String(outcome.reason);
}

describe.each(codes)('%s of the platform', (code) => {
  const fault = { fault: text(code) };
  const isOutage = outages.includes(code);

  test('for a read', async () => {
    const { outcome, sent } = await read([fault, fault, fault]);
    expect([kindOf(outcome), sent]).toEqual(isOutage ? ['unavailable', 2] : ['rejected', 1]);
    expect(String(outcome.status === 'rejected' && outcome.reason)).toContain(code);
  });

  test('for a write, which is sent once', async () => {
    const { outcome, sent, booked } = await write([fault, fault]);
    expect([kindOf(outcome), sent, booked]).toEqual([isOutage ? 'outcome_unknown' : 'rejected', 1, 0]);
  });
});

test('a read succeeds at the second attempt', async () => {
  const { outcome, sent } = await read([{ fault: text('VP009') }]);
  expect([kindOf(outcome), sent]).toEqual(['done', 1]);
});

test.each<[string, Mishap, string, string]>([
  ['a fault of the client', { fault: 'Ogiltigt meddelande', code: 'Client' }, 'rejected', 'rejected'],
  ['a fault of the server', { fault: 'Internt fel 191212121212' }, 'rejected', 'outcome_unknown'],
  ['a page', { body: '<html><p>Logga in</html>' }, 'rejected', 'outcome_unknown'],
  ['another answer', { body: '<a xmlns="urn:x"/>' }, 'rejected', 'outcome_unknown'],
  ['an entity bomb', { body: '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>' }, 'rejected', 'outcome_unknown'],
])('%s', async (_, mishap, ofRead, ofWrite) => {
  const [reading, writing] = await Promise.all([read([mishap]), write([mishap])]);
  expect([kindOf(reading.outcome), kindOf(writing.outcome)]).toEqual([ofRead, ofWrite]);
  for (const { outcome } of [reading, writing]) {
    expect(String(outcome.status === 'rejected' && outcome.reason)).not.toMatch(/1912|Logga|Ogiltigt/);
  }
});

describe('a booking whose answer is lost', () => {
  test.each<[string, Mishap]>([
    ['by the network', 'answer lost'],
    ['by a fault of the platform', { faultAfter: text('VP009') }],
    [
      'by an answer without a result',
      {
        body: '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><MakeBookingResponse xmlns="urn:riv:crm:scheduling:MakeBookingResponder:1"/></e:Body></e:Envelope>',
      },
    ],
  ])('%s is unknown, and is found by unit, start and patient', async (_, mishap) => {
    const { outcome, booked, connector, slot } = await write([mishap]);
    expect([kindOf(outcome), booked]).toEqual(['outcome_unknown', 1]);
    const { start, end, resourceId } = slot;
    const found = await connector.listAppointments?.({
      ...list,
      resourceId,
      range: { start, end },
      states: ['booked'],
    });
    expect(found).toMatchObject([{ start, end, resourceId, patientId: idOf(patients.first) }]);
  });

  test('before it arrived is unknown too, and nothing is found', async () => {
    const { outcome, booked, connector } = await write(['request lost']);
    expect([kindOf(outcome), booked]).toEqual(['outcome_unknown', 0]);
    expect(await connector.listAppointments?.(list)).toEqual([]);
  });
});
