import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import { startMedplum } from '../counterparts/medplum.ts';
import { type FakeOptions, startFake } from '../fake/server.ts';
import type { FhirSettings } from '../src/settings.ts';
import { fhirSubject, settingsFor } from './subject.ts';

const checking: FakeOptions = { transactions: 'none', plainWrites: false, checksAppointments: true };
const data = { days: 30 };

const counterparts: readonly (readonly [name: string, options: FakeOptions, settings?: Partial<FhirSettings>])[] = [
  ['a FHIR server with transactions', {}],
  ['a FHIR server without transactions', { transactions: 'none', emptyBodies: true, pageSize: 50 }],
  ['a FHIR server whose claims are lost with 409', { transactions: 'none', lostClaimStatus: 409 }],
  ['a FHIR server with $find and $book of IHE', { ...checking, operations: true }],
  [
    'a FHIR server with $find and $book of Argonaut',
    { ...checking, operations: true },
    { booking: { operations: 'argonaut' } },
  ],
  [
    'a FHIR server with $book of a whole appointment',
    { ...checking, operations: true },
    { booking: { operations: 'resource', operation_lookup: true } },
  ],
  [
    'a FHIR server that checks appointments itself',
    { ...checking, emptyBodies: true, requiresServiceType: true },
    {
      booking: { mode: 'create', operation_lookup: true },
      slots: { require_service_type: true, search_by: 'schedule.actor' },
    },
  ],
];

for (const [name, options, settings] of counterparts) {
  describeConformance(name, async () => {
    const server = await startFake({ ...options, data });
    return fhirSubject(name, settingsFor(server.url, settings), server.close);
  });
}

describeConformance('Medplum in memory', async () => {
  const server = await startMedplum({ data });
  return fhirSubject('Medplum in memory', settingsFor(server.url), server.close);
});
