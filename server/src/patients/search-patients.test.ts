import type { Patient } from '@crossward/connector-kit';
import { expect, test } from 'vitest';
import type { EhrConnection } from '../ehr/connection.ts';
import { findPatients } from './search-patients.ts';

const person: Patient = {
  id: 'p-1',
  identifiers: [{ type: 'emr_id', value: 'p-1' }],
  givenName: 'Nora',
  familyName: 'Vik',
  birthDate: '1980-02-03',
  gender: null,
  phone: null,
  email: null,
  address: null,
};

/** An EHR whose search finds people as `isSearchedFor` of the connector kit says. */
function ehrWith(...patients: readonly Partial<Patient>[]): EhrConnection {
  const found = patients.map((it) => ({ ...person, ...it }));
  return { capabilities: {}, offers: () => true, call: async () => found } as unknown as EhrConnection;
}

test.each([
  [{ nationalPhone: '0701740605' }, 'SE', true],
  [{ nationalPhone: '0701740605' }, 'NO', false],
  [{ nationalPhone: '0701740605' }, undefined, false],
  [{ phone: '+46701740605' }, 'NO', true],
  [{ phone: '+46701740605', phones: ['0812345678', '+46701740605'] }, 'NO', true],
  // The first that can be reached counts, and is shown.
  [{ phone: '+46701740605', phones: ['0812345678', '+46701740605'] }, 'SE', false],
])('of who has the number without its country code, %j in %s: found by it: %s', async (phones, country, isFound) => {
  const search = findPatients(ehrWith(phones), { defaultCountry: country }, { phone: '+46701740605' });
  expect((await search).map(({ id }) => id)).toEqual(isFound ? ['p-1'] : []);
});

test('a search by name does not look at phone numbers', async () => {
  const body = { family_name: 'Vik', birth_date: '1980-02-03' };
  expect(await findPatients(ehrWith({}), {}, body)).toHaveLength(1);
});
