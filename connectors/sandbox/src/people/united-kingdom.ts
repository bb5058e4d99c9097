import { people, type SyntheticPopulation } from './synthetic-person.ts';

export const unitedKingdom: SyntheticPopulation = {
  patients: people(
    [
      ['Sample', 'Testerton', 'female', '1987-03-12'],
      ['Specimen', 'Fictworth', 'male', '1969-11-30'],
      ['Mock', 'Placeholder', 'male', '1992-06-04'],
      ['Merry', 'Draftley', 'female', '1975-01-21'],
      ['Calm', 'Examplewood', 'male', '1950-09-15'],
      ['Bright', 'Trialby', 'female', '2003-12-08'],
      ['Steady', 'Sketchford', 'male', '1981-04-19'],
      ['Gentle', 'Modelham', 'female', '1964-08-02'],
      ['Brisk', 'Proofstone', 'male', '1998-02-26'],
      ['Sunny', 'Patterndale', 'female', '2009-10-10'],
      ['Hearty', 'Standinghall', 'male', '1943-05-17'],
      ['Quiet', 'Rehearsley', 'female', '1979-07-23'],
      ['Patient', 'Zeroton', 'male', '1990-01-01'],
      ['Jolly', 'Makebelieve', 'female', '1985-12-12'],
      ['Keen', 'Figmentson', 'male', '1957-06-28'],
      ['Kind', 'Synthia', 'female', '1973-03-05'],
      ['Ready', 'Dummerston', 'male', '2001-11-19'],
      ['Warm', 'Prototype', 'female', '1966-09-29'],
      ['Plain', 'Mailonly', 'male', '1994-04-07'],
      ['Faint', 'Unreachable', 'female', '1948-08-08'],
    ],
    [
      { type: 'nhs_number', value: '9990000018' },
      { type: 'nhs_number', value: '9990000026' },
    ],
  ),
  practitionerNames: [
    'Dr Careful Sampleton',
    'Dr Watchful Testwick',
    'Nurse Thoughtful Exley',
    'Midwife Steadfast Mockford',
    'Dr Thorough Draftwell',
    'Dr Friendly Specimen',
    'Nurse Reliable Patterson',
    'Physiotherapist Nimble Trialton',
  ],
  // Numbers that Ofcom reserves for drama: 07700 900000 to 900999.
  phone: (n) => `+447700900${String(n).padStart(3, '0')}`,
  street: 'Sample Street',
  postalCode: 'ZZ99 3WZ',
  city: 'London',
  country: 'GB',
};
