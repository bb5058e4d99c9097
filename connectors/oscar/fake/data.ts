export const timeZone = 'America/Toronto';

/** A record as the server sends it: members that are null are not sent. */
export type FakeRecord = Record<string, string | number | null>;

/** Numbers with wrong check digits, so that nobody has them. */
export const numbers = { ann: '9999000001', twins: '9999000012', merged: '9999000023', unused: '9999000034' };
export const people = {
  ...{ ann: '101', ben: '102', died: '103', twin: '104', otherTwin: '105', head: '106', merged: '107', vague: '108' },
};
export const providers = { ada: '900101', bea: '900102', cleo: '900103' };
export const types = { visit: '1', long: '2' };

export function newDemographics(): Map<string, FakeRecord> {
  const person = (id: string, lastName: string, more: FakeRecord = {}): [string, FakeRecord] => [
    id,
    {
      ...{
        demographicNo: Number(id),
        firstName: 'Test',
        lastName,
        sex: 'F',
        patientStatus: 'AC',
        hcType: 'ON',
        hin: '',
      },
      ...{ yearOfBirth: '1970', monthOfBirth: '03', dateOfBirth: '09', address: '1 Example Road', city: 'Toronto' },
      ...{ province: 'ON', postal: 'M5V 0A1', phone: '416-555-0101', cellPhone: null, phone2: null, email: null },
      headRecord: null,
      ...more,
    },
  ];
  return new Map([
    person(people.ann, 'Example', { hin: '9999 000 001', email: 'ann@example.com' }),
    person(people.ben, 'Sample', { sex: 'M', phone: 'none', cellPhone: '(416) 555-0102 evenings' }),
    person(people.died, 'Gone', { patientStatus: 'DE' }),
    person(people.twin, 'Twin', { hin: numbers.twins }),
    person(people.otherTwin, 'Twin', { hin: numbers.twins }),
    person(people.head, 'Merged', { hin: '9999000045' }),
    person(people.merged, 'Merged', { hin: numbers.merged, headRecord: Number(people.head) }),
    person(people.vague, 'Vague', {
      sex: 'O',
      dateOfBirth: '31',
      monthOfBirth: '02',
      address: null,
      patientStatus: null,
    }),
    // Contain numbers of others, or are those of other provinces.
    person('109', 'Longer', { hin: `${numbers.ann}7` }),
    person('110', 'Elsewhere', { hin: numbers.ann, hcType: 'BC' }),
  ]);
}

export const providerRecords: readonly FakeRecord[] = [
  { providerNo: providers.ada, firstName: 'Ada', lastName: 'Example', providerType: 'doctor', status: '1' },
  { providerNo: providers.bea, firstName: 'Bea', lastName: 'Example', providerType: 'doctor', status: '1' },
  { providerNo: providers.cleo, firstName: 'Cleo', lastName: 'Example', providerType: 'doctor', status: '1' },
  { providerNo: '900001', firstName: 'Desk', lastName: 'Example', providerType: 'receptionist', status: '1' },
];

export const typeRecords: readonly FakeRecord[] = [
  { id: 2, name: 'Long visit', notes: '', reason: '', location: '', resources: '', duration: 30 },
  { id: 1, name: 'Visit', notes: '', reason: '', location: '', resources: '', duration: 15 },
  { id: 3, name: 'Internal', notes: '', reason: '', location: '', resources: '', duration: 15 },
];

const code = (id: number, character: string, bookinglimit: number): FakeRecord => ({
  ...{ id, code: character.charCodeAt(0), description: 'Example', duration: '15', color: 'white', confirm: 'No' },
  bookinglimit,
});
export const codeRecords: readonly FakeRecord[] = [code(1, '1', 1), code(2, 'g', 2), code(3, 'L', 1)];

/** A template of 96 quarters of an hour. */
function template(...codes: readonly (readonly [character: string, from: number, to: number])[]): string {
  return Array.from(
    { length: 96 },
    (_, part) => codes.find(([, from, to]) => part >= from * 4 && part < to * 4)?.[0] ?? '_',
  ).join('');
}
export const templates: Readonly<Record<string, string>> = {
  Day: template(['1', 9, 12], ['L', 12, 13], ['g', 13, 14], ['1', 14, 16]),
  Night: template(['1', 0, 4], ['1', 23, 24]),
  Odd: '_'.repeat(60) + '1'.repeat(60),
};
