import type { Connector, EhrHttp, EhrRequest } from '@crossward/connector-kit';
import { plainHttp, runConformance, type Subject } from '@crossward/connector-kit/conformance';
import { expect, test } from 'vitest';
import { fhirR4Connector } from '../../connectors/fhir-r4/src/connector.ts';
import type { FhirSettings } from '../../connectors/fhir-r4/src/settings.ts';
import { gatewayBefore } from '../../server/src/ehr/gateway-before.ts';
import { startGateway } from '../gateway/gateway.ts';
import { oslo } from '../requests/bookings.ts';
import { fewDays } from '../requests/few-days.ts';

/*
 * The connector in front of the FHIR face of a second gateway: what the kit promises survives two mappings. The face has no
 * versions and no look-up by identifier, and one base URL has one care unit.
 */
async function ownFace(mode: 'create' | 'operations'): Promise<Subject> {
  const gateway = await startGateway();
  const { id, secret } = gateway.credentials('everything');
  const careUnit = { id: 'oslo-sentrum', name: 'Oslo sentrum', timeZone: 'Europe/Oslo' };
  const settings: FhirSettings = {
    base_url: `http://127.0.0.1:${gateway.port}${oslo}/fhir-r4`,
    patient_identifier_types: ['no_personal_number'],
    booking: { mode, operations: 'isik', operation_lookup: false },
  };
  const open = (http: EhrHttp): Promise<Connector> =>
    fhirR4Connector.open({
      emr: 'face',
      settings,
      careUnits: [{ ...careUnit, settings: {} }],
      http: withHeaders(http, { 'x-service-client-id': id, 'x-service-client-secret': secret }),
      now: () => new Date(),
    });
  let http = plainHttp();
  let connector = await open(http);
  return {
    name: `fhir-r4 on the FHIR face, ${mode}`,
    get connector() {
      return connector;
    },
    careUnit,
    facts: {
      patient: [
        { type: 'emr_id', value: 'p-1' },
        { type: 'no_personal_number', value: '15859000026' },
      ],
      otherPatientId: 'p-3',
      resource: [{ type: 'emr_id', value: 'r-1' }],
      healthcareServiceId: 'consultation',
      window: fewDays,
    },
    second: await open(plainHttp()),
    async restart() {
      http.cut();
      http = plainHttp();
      connector = await open(http);
    },
    close: () => gateway.close(),
  };
}

/** The credentials of a client of the second gateway. */
function withHeaders(http: EhrHttp, headers: Readonly<Record<string, string>>): EhrHttp {
  const added = (request: EhrRequest) => ({ ...request, headers: { ...request.headers, ...headers } });
  return { send: (request) => http.send(added(request)), stream: (request) => http.stream(added(request)) };
}

/** What the face does not offer, by check of the kit: `docs/guide/fhir.md`. */
const gaps = {
  // Slots that are taken are not listed, so the connector does not find those of an appointment that moves.
  takenSlots: [
    'a slot of an appointment named in freeing counts as free',
    'treats the time of the appointment itself as free',
  ],
};

test.each(['create', 'operations'] as const)(
  'the conformance kit over the FHIR face, with booking by %s, finds the named gaps and no other',
  { timeout: 600_000 },
  async (mode) => {
    const face = await ownFace(mode);
    const subject: Subject = Object.create(face, {
      callGateway: { value: gatewayBefore(() => face.connector) },
      // A further way of booking with the same connector.
      raceRounds: { value: 3 },
    });
    try {
      const { passed, results, leftBehind } = await runConformance(subject);
      const failed = results.filter(({ outcome }) => outcome === 'failed').map(({ check }) => check);
      const named = gaps.takenSlots;
      expect(failed.filter((it) => !named.includes(it))).toEqual([]);
      // A gap that is closed is no longer named.
      expect(failed).toEqual(expect.arrayContaining([gaps.takenSlots[0]]));
      expect(results.find(({ check }) => check.startsWith('twenty concurrent bookings'))?.outcome).toBe('passed');
      expect(passed).toBeGreaterThan(45);
      expect(leftBehind).toEqual([]);
    } finally {
      await face.close?.();
    }
  },
);
