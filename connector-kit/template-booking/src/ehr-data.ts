// Staff have written numbers as they liked. Synthetic patients: NHS numbers from 999 000 0000 are never issued, and +4477009… is reserved for fiction.
const female = { sex: 'female', mobile: null, died: false };
export const patients = [
  {
    ...female,
    id: '1001',
    nhs: '999 000 0018',
    given: 'Merry',
    family: 'Meadow',
    born: '1979-05-12',
    mobile: '+44 (0)7700 900001 (evenings)',
  },
  {
    ...{ id: '1002', nhs: null, given: 'Jolly', family: 'Brook', born: '2001-11-30' },
    ...{ sex: 'male', mobile: '+447700900002', died: false },
  },
  // Twins, of whom one has the number of the other.
  { ...female, id: '1003', nhs: '9990000034', given: 'Sunny', family: 'Vale', born: '2010-02-03' },
  { ...female, id: '1004', nhs: '999-000-0034', given: 'Misty', family: 'Vale', born: '2010-02-03' },
  { ...female, id: '1005', nhs: null, given: 'Gentle', family: 'Dale', born: '1931-08-01', died: true },
];
export const services = [
  { id: 'consultation', label: 'Consultation', minutes: 30 },
  { id: 'blood-test', label: 'Blood test', minutes: 30 },
];
export const practitioners = [
  { id: 'ada', name: 'Ada Ash', department: 'D1', services: ['consultation', 'blood-test'] },
  { id: 'ben', name: 'Ben Birch', department: 'D1', services: ['consultation'] },
  { id: 'cy', name: 'Cy Cedar', department: 'D2', services: ['consultation'] },
];
/** Of the EHR's users. `reader` may not book. */
export const passwords: ReadonlyMap<string, string> = new Map([
  ['gateway', 'a password of the test EHR'],
  ['reader', 'another password of the test EHR'],
]);
