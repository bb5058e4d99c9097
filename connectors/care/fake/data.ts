/** A resource with a schedule. */
export interface FakeResource {
  readonly id: string;
  readonly type: 'practitioner' | 'location';
  readonly facility: string;
  readonly name: string;
  readonly places: number;
}

export interface FakePatient {
  readonly id: string;
  name: string;
  gender: string;
  phone_number: string;
  date_of_birth: string | null;
  year_of_birth: number;
  address: string;
  pincode: number;
  deceased_datetime: string | null;
  instance_identifiers: { config: { id: string; config: { system: string } }; value: string }[];
}

export interface FakeSlot {
  readonly id: string;
  readonly resource: FakeResource;
  readonly start: number;
  readonly end: number;
  allocated: number;
}

export interface FakeBooking {
  readonly id: string;
  readonly slot: FakeSlot;
  readonly patient: FakePatient;
  status: string;
  note: string;
  created: number;
  modified: number;
}

const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

export const facilities = { north: id(1), south: id(2) };
export const geoOrganization = id(3);
export const configs = {
  /** Of national numbers. */
  number: { id: id(4), config: { system: 'https://numbers.example/no', unique: true } },
  /** Finds people in part. */
  card: { id: id(5), config: { system: 'https://cards.example', unique: false, retrieve_partial: true } },
};
export const people = { asha: id(11), ravi: id(12), died: id(13), yearOnly: id(14), twin: id(15), otherTwin: id(16) };
export const numbers = { asha: '13116900216', twins: '13116900569', unused: '13116900135' };
/** Of people who are new in the tests. Their check digits are wrong, so that nobody has them. */
export const newNumbers = ['13116900301', '13116900302', '13116900303', '13116900304'];
export const resources: Readonly<Record<'ada' | 'ben' | 'ward' | 'cleo', FakeResource>> = {
  ada: { id: id(21), type: 'practitioner', facility: facilities.north, name: 'Ada Example', places: 1 },
  ben: { id: id(22), type: 'practitioner', facility: facilities.north, name: 'Ben Example', places: 1 },
  ward: { id: id(23), type: 'location', facility: facilities.north, name: 'Ward 1', places: 2 },
  cleo: { id: id(24), type: 'practitioner', facility: facilities.south, name: 'Cleo Example', places: 1 },
};

export function newPatients(): FakePatient[] {
  const person = (own: string, name: string, more: Partial<FakePatient> = {}): FakePatient => ({
    id: own,
    name,
    gender: 'female',
    phone_number: '+919000000001',
    date_of_birth: '1969-11-13',
    year_of_birth: 1969,
    address: '1 Example Road\nKochi',
    pincode: 682001,
    deceased_datetime: null,
    instance_identifiers: [],
    ...more,
  });
  const number = (value: string) => [{ config: configs.number, value }];
  return [
    person(people.asha, 'Asha Example', { instance_identifiers: number('131169 00216') }),
    person(people.ravi, 'Ravi Example', { gender: 'transgender', phone_number: '+919000000002' }),
    person(people.died, 'Died Example', { deceased_datetime: '2020-01-01T00:00:00Z' }),
    person(people.yearOnly, 'Year Example', { date_of_birth: null }),
    person(people.twin, 'One Example', { instance_identifiers: number(numbers.twins) }),
    person(people.otherTwin, 'Two Example', { instance_identifiers: number(numbers.twins) }),
  ];
}
