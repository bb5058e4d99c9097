import Type from 'typebox';
import { endpoint, type Input } from '../api/endpoint.ts';
import { ehrReadReasons } from '../api/route-reasons.ts';
import { choice } from '../api/schemas.ts';
import { describeError } from '../log/describe-error.ts';
import { Problem } from '../problems/problem.ts';
import { searchableIn } from '../slot-search/services.ts';
import type { InCareUnit } from '../writes/write-kind.ts';

const servicesSchema = Type.Object({
  services: Type.Array(
    Type.Object({
      service: Type.String({
        description: 'What to send: a code of the operators, or a code that EHRs have, as `{system}|{code}`.',
      }),
      name: Type.String(),
      care_units: Type.Array(
        Type.Object({
          emr: Type.String(),
          care_unit_id: Type.String(),
          healthcare_service_ids: Type.Array(Type.String(), { description: 'What means it there.' }),
        }),
      ),
    }),
  ),
  unanswered: Type.Array(
    Type.Object({
      emr: Type.String(),
      care_unit_id: Type.String(),
      reason: choice([...ehrReadReasons, 'internal_error'], { description: 'As in a problem document.' }),
    }),
    { description: 'Care units whose services are not known now.' },
  ),
});

/** Milliseconds that the list waits for EHRs. */
const longestWait = 3_000;

export const listServices = endpoint({
  operationId: 'list_services',
  tag: 'Healthcare services',
  summary: 'List services of all care units',
  description:
    'The services that `POST /api/timeslots/search` takes, and the care units that have them: those that the operators have ' +
    'named for all EHRs, and those by the codes of EHRs.',
  level: 'client',
  method: 'GET',
  path: '/services',
  audit: 'none',
  scopes: ['resources:read', 'appointments:read'],
  response: { status: 200, description: 'The services, sorted by `service`.', schema: servicesSchema },
  reasons: [],
  examples: {
    response: {
      services: [
        {
          service: 'vaccination',
          name: 'Vaccination',
          care_units: [{ emr: 'sandbox-no', care_unit_id: 'oslo-sentrum', healthcare_service_ids: ['vaccination'] }],
        },
      ],
      unanswered: [],
    },
  },
  async handle(input, { log }) {
    const { client, services, sameServices } = input;
    const granted = [...services.ehrs.values()].flatMap((ehr) =>
      [...ehr.careUnits.values()].flatMap((careUnit) =>
        client.grants.get(ehr.id)?.has(careUnit.id) ? [{ ehr, careUnit }] : [],
      ),
    );
    const configured = sameServices();
    const read = await Promise.all(granted.map((place) => servicesIn(input, place)));
    const found = new Map<string, { service: string; name: string; care_units: object[] }>();
    for (const { place, services: its } of read) {
      for (const { service, name, ids } of searchableIn(configured, place, its ?? [])) {
        const known = found.get(service) ?? { service, name, care_units: [] };
        known.care_units.push({ ...named(place), healthcare_service_ids: ids });
        found.set(service, known);
      }
    }
    const unanswered = read.flatMap(({ place, failure }) => {
      if (!failure) return [];
      if (failure.reason === 'internal_error')
        log.error({ emr: place.ehr.id, cause: describeError(failure.cause) }, 'list of services failed');
      return [{ ...named(place), reason: failure.reason }];
    });
    return { body: { services: [...found.values()].sort((a, b) => (a.service < b.service ? -1 : 1)), unanswered } };
  },
});

const named = ({ ehr, careUnit }: InCareUnit) => ({ emr: ehr.id, care_unit_id: careUnit.id });

async function servicesIn({ slots }: Pick<Input<'client'>, 'slots'>, place: InCareUnit) {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, longestWait);
  try {
    const services = await Promise.race([slots.servicesOf(place), late]);
    return services ? { place, services } : { place, failure: new Problem('ehr_timeout') };
  } catch (error) {
    return { place, failure: error instanceof Problem ? error : new Problem('internal_error', { cause: error }) };
  } finally {
    clearTimeout(timer);
  }
}
