import type { HealthcareService } from '@crossward/connector-kit';
import { expect, test } from 'vitest';
import type { EhrConnection } from '../../ehr/connection.ts';
import type { SignedIn } from '../frame/page.ts';
import { unmappedServices } from './unmapped-services.ts';

const service = (id: string, codes: HealthcareService['codes'] = []) =>
  ({ id, name: `Name of ${id}`, durationMinutes: 30, codes }) as HealthcareService;

/** What the page says of an EHR with these care units. A care unit without services does not answer. */
async function said(units: Readonly<Record<string, readonly HealthcareService[] | undefined>>, more: object = {}) {
  const ehr = {
    id: 'north',
    isOpen: true,
    health: () => ({ breaker: 'closed' }),
    offers: () => true,
    careUnits: new Map(Object.keys(units).map((id) => [id, { id, name: id }])),
    ...more,
  } as unknown as EhrConnection;
  const servicesOf = async ({ careUnit }: { careUnit: { id: string } }) => {
    const its = units[careUnit.id];
    if (!its) throw new Error('It does not answer');
    return its;
  };
  const sameServices = () => [
    { code: 'jab', name: 'A jab', healthcare_services: [{ emr: 'north', care_unit: 'Hill', ids: ['v'] }] },
  ];
  const context = { deps: { slots: { servicesOf }, sameServices } } as unknown as SignedIn;
  return unmappedServices(context, ehr);
}

test('services that neither the configuration nor a code names are shown by care unit', async () => {
  const coded = service('c', [{ system: 'https://codes.example', code: '1', display: null }]);
  const local = service('l', [{ system: null, code: '1', display: null }]);
  expect(await said({ Hill: [service('v'), coded], River: [service('v'), local, coded], Away: undefined })).toBe(
    'River: Name of v (v), Name of l (l); 1 care unit not known now',
  );
  expect(await said({ Hill: [service('v')] })).toBe('none');
});

test('an EHR that is away is not asked', async () => {
  expect(await said({ Hill: undefined }, { health: () => ({ breaker: 'open' }) })).toBe('not known now');
});
