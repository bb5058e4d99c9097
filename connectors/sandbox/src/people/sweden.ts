import { people, type SyntheticPopulation } from './synthetic-person.ts';

export const sweden: SyntheticPopulation = {
  patients: people(
    [
      ['Tolvan', 'Tolvansson', 'male', '1912-12-12'],
      ['Ljus', 'Provberg', 'male', '1970-10-03'],
      ['Pigg', 'Testlund', 'female', '1984-02-17'],
      ['Glada', 'Exempelin', 'female', '1993-09-09'],
      ['Lugn', 'Mallström', 'male', '1961-04-25'],
      ['Solig', 'Utkastén', 'female', '2006-01-12'],
      ['Rask', 'Skissgren', 'male', '1979-07-30'],
      ['Varma', 'Förlagsson', 'female', '1955-10-20'],
      ['Modig', 'Modellqvist', 'male', '1997-05-05'],
      ['Klara', 'Övningsson', 'female', '1989-12-01'],
      ['Stark', 'Påhittsberg', 'male', '1944-03-14'],
      ['Mjuk', 'Fiktivius', 'female', '1972-08-28'],
      ['Stilla', 'Dummylund', 'female', '2012-06-06'],
      ['Snabb', 'Låtsasson', 'male', '1986-11-11'],
      ['Vaken', 'Attrapp', 'female', '1968-01-29'],
      ['Trygg', 'Syntetén', 'male', '2000-02-29'],
      ['Munter', 'Kulissmark', 'female', '1976-09-18'],
      ['Blyg', 'Scenström', 'male', '1958-05-22'],
      ['Ärlig', 'Rollgren', 'female', '1990-07-15'],
      ['Öppen', 'Repris', 'male', '1982-03-03'],
    ],
    [
      { type: 'se_personal_number', value: '191212121212' },
      { type: 'se_personal_number', value: '197010632391' },
    ],
  ),
  practitionerNames: [
    'Läkare Noggrann Provsson',
    'Läkare Vaksam Testberg',
    'Sjuksköterska Omtänksam Exempel',
    'Barnmorska Tålig Mall',
    'Läkare Grundlig Skiss',
    'Läkare Vänlig Utkast',
    'Sjuksköterska Stadig Modell',
    'Fysioterapeut Spänstig Förlaga',
  ],
  // Numbers that PTS reserves for fiction: 070-174 06 05 to 070-174 06 99.
  phone: (n) => `+4670174${String(604 + n).padStart(4, '0')}`,
  street: 'Provgatan',
  postalCode: '100 00',
  city: 'Stockholm',
  country: 'SE',
};
