import type { Transaction } from './transaction.ts';

/** What the fake holds when it starts. */
export interface FakeData {
  /** The starts of free appointments of half an hour, at each professional. */
  readonly starts: readonly Date[];
}

const minutes = 30;

/** Ids are given in this order, from 1. */
export const people = {
  /** With a number and a phone. */
  kari: 1,
  ola: 2,
  /** Has died. */
  per: 3,
} as const;
export const professionals = { ada: 1, bo: 2, cleo: 3, gateway: 4 } as const;
export const institutions = { north: 1, south: 2 } as const;
export const specialities = { family: 1, skin: 2 } as const;
export const kariNumber = '13116900216';

/** Two clinics with synthetic people. */
export function addData({ starts }: FakeData, within: (run: (it: Transaction) => void) => void): void {
  within((it) => {
    it.create('gnuhealth.institution', [{ code: 'NORTH' }, { code: 'SOUTH' }]);
    it.create('gnuhealth.specialty', [
      { name: 'Family Medicine', code: 'FAMILY' },
      { name: 'Dermatology', code: 'DERMATOLOGY' },
    ]);
    it.create('country.country', [{ code: 'NO' }]);
    addPeople(it);
    addProfessionals(it);
    it.create('ir.module', [
      { name: 'health', version: '5.0.6', state: 'activated' },
      { name: 'health_calendar', version: '5.0.5', state: 'activated' },
    ]);
  });
  within((it) => {
    const { ada, bo, cleo } = professionals;
    const list = starts.flatMap((start) => [
      freeAppointment(start, ada, institutions.north),
      freeAppointment(start, bo, institutions.north),
      freeAppointment(start, cleo, institutions.south),
    ]);
    it.create('gnuhealth.appointment', list);
  });
}

function freeAppointment(start: Date, healthprof: number, institution: number, length = minutes) {
  return {
    state: 'free',
    healthprof,
    institution,
    speciality: specialities.family,
    appointment_date: start.getTime() * 1000,
    appointment_date_end: (start.getTime() + length * 60_000) * 1000,
  };
}

function addPeople(it: Transaction): void {
  const parties = it.create('party.party', [
    person('Kari', 'Nordmann', {
      ref: '131169 00216',
      mobile: '+47 (0)900 00 001 (dagtid)',
      email: 'kari@example.org',
      gender: 'f',
    }),
    person('Ola', 'Hansen', { ref: 'XYZ123ABC', gender: 'm' }),
    person('Per', 'Olsen', { ref: null, gender: 'm' }),
  ]);
  it.create('party.address', [
    { party: parties[0], street: 'Storgata 1\nOppgang B', postal_code: '0155', city: 'Oslo', country: 1, active: true },
  ]);
  it.create(
    'gnuhealth.patient',
    parties.map((party, index) => ({ party, active: true, deceased: index === 2 })),
  );
}

function addProfessionals(it: Transaction): void {
  const parties = it.create('party.party', [
    person('Ada', 'Berg', { ref: 'UDZ305DQW' }),
    person('Bo', 'Dahl', { ref: 'DMO426RLW' }),
    person('Cleo', 'Eng', { ref: 'HCL692RGP' }),
    person('Gateway', '', { ref: 'GWY000AAA' }),
  ]);
  const { north, south } = institutions;
  it.create(
    'gnuhealth.healthprofessional',
    parties.map((party, index) => ({ party, institution: index === 2 ? south : north, active: true })),
  );
  it.create('gnuhealth.hp_specialty', [
    { healthprof: professionals.ada, specialty: specialities.family },
    { healthprof: professionals.ada, specialty: specialities.skin },
    { healthprof: professionals.bo, specialty: specialities.family },
    { healthprof: professionals.cleo, specialty: specialities.family },
  ]);
}

function person(name: string, lastname: string, more: Readonly<Record<string, unknown>>) {
  const birth = { __class__: 'date', year: 1969, month: 11, day: 13 };
  return { name, lastname, dob: birth, gender: null, active: true, mobile: '', phone: '', email: '', ...more };
}
