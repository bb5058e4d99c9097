// Staff have written numbers as they liked. Synthetic patients: NHS numbers from 999 000 0000 are never issued, and +4477009… is reserved for fiction.
export const patients = [
  {
    id: '1001',
    nhs: '999 000 0018',
    given: 'Merry',
    family: 'Meadow',
    born: '1979-05-12',
    sex: 'female',
    mobile: '+44 (0)7700 900001 (evenings)',
  },
  { id: '1002', nhs: null, given: 'Jolly', family: 'Brook', born: '2001-11-30', sex: 'male', mobile: '+447700900002' },
];
export const services = [
  { id: 'consultation', label: 'Consultation', minutes: 30 },
  { id: 'blood-test', label: 'Blood test', minutes: 30 },
];
export const practitioners = [
  { id: 'ada', name: 'Ada Ash', department: 'clinic', services: ['consultation', 'blood-test'] },
  { id: 'ben', name: 'Ben Birch', department: 'clinic', services: ['consultation'] },
  { id: 'cy', name: 'Cy Cedar', department: 'annex', services: ['consultation'] },
];
/** Of the EHR's users. `reader` may not book. */
export const passwords: ReadonlyMap<string, string> = new Map([
  ['gateway', 'a password of the test EHR'],
  ['reader', 'another password of the test EHR'],
]);
