import { randomUUID } from 'node:crypto';
import { type AppointmentChange, ConnectorError, type EhrHttp } from '@crossward/connector-kit';
import { plainHttp } from '@crossward/connector-kit/conformance';
import { expect, test } from 'vitest';
import { connector } from './connector.ts';
import { startEhr } from './ehr-server.ts';
import { careUnits, contextFor } from './second.ts';

const [careUnit] = careUnits;
const day = 24 * 60 * 60 * 1000;

test('a booking whose answer was lost is found by its operation id, and not made again', async () => {
  const server = await startEhr();
  const plain = plainHttp();
  let isLost = true;
  const http: EhrHttp = {
    ...plain,
    async send(request) {
      const response = await plain.send(request);
      if (!isLost || !request.url.endsWith('/book')) return response;
      isLost = false;
      throw new ConnectorError('outcome_unknown', 'The answer was lost');
    },
  };
  const { listTimeSlots, changeAppointments, findOperation, listAppointments } = await connector.open(
    contextFor(server.url, { http }),
  );
  const range = { start: new Date(Date.now() + day), end: new Date(Date.now() + 4 * day) };
  const [slot] = (await listTimeSlots?.({ careUnit, ...range, limit: 1 })) ?? [];
  if (!slot) throw new Error('No free slot');
  const change: AppointmentChange = { kind: 'create', ...slot, patientId: '1001', comment: null, holdUntil: null };
  const operationId = randomUUID();
  const booking = { operationId, careUnit, changes: [change] };
  await expect(changeAppointments?.({ ...booking, isFirst: true })).rejects.toThrow('The answer was lost');
  const found = await findOperation?.(careUnit, operationId);
  expect(found).toMatchObject([{ start: slot.start, state: 'booked' }]);
  expect(await changeAppointments?.(booking)).toEqual(found);
  expect(await listAppointments?.({ careUnit, range, limit: 10 })).toEqual(found);
  await server.close();
});
