import { people, type SyntheticPopulation } from './synthetic-person.ts';

export const norway: SyntheticPopulation = {
  patients: people(
    [
      ['Lykkelig', 'Granskog', 'female', '1990-05-15'],
      ['Modig', 'Fjellvann', 'female', '1990-05-15'],
      ['Rolig', 'Strandsand', 'male', '1974-01-30'],
      ['Blid', 'Nattsky', 'female', '1982-11-02'],
      ['Snill', 'Tangfelt', 'male', '2001-07-19'],
      ['Kvikk', 'Vintersol', 'female', '1966-03-08'],
      ['Glad', 'Høstblad', 'male', '1959-12-24'],
      ['Rask', 'Elveos', 'female', '1995-06-11'],
      ['Stille', 'Myrull', 'male', '1988-09-27'],
      ['Lun', 'Bjørkelund', 'female', '2010-02-14'],
      ['Frisk', 'Steinrøys', 'male', '1947-10-05'],
      ['Varm', 'Lyngmark', 'female', '1978-04-21'],
      ['Klok', 'Havdis', 'male', '1999-08-16'],
      ['Trygg', 'Skogtur', 'female', '1985-01-03'],
      ['Mild', 'Sommereng', 'male', '1970-05-29'],
      ['Ivrig', 'Regnbue', 'female', '2004-12-09'],
      ['Tapper', 'Isbre', 'male', '1963-07-07'],
      ['Ærlig', 'Kystvind', 'female', '1991-03-31'],
      ['Munter', 'Åkerøy', 'male', '1953-11-18'],
      ['Øm', 'Dugg', 'female', '1980-06-23'],
    ],
    [
      { type: 'no_personal_number', value: '15859000026' },
      { type: 'no_personal_number', value: '55859000281' },
    ],
  ),
  practitionerNames: [
    'Lege Nøysom Fjord',
    'Lege Våken Dal',
    'Sykepleier Omtenksom Vik',
    'Jordmor Tålmodig Ås',
    'Lege Grundig Nes',
    'Lege Vennlig Berg',
    'Sykepleier Stødig Holm',
    'Fysioterapeut Spenstig Li',
  ],
  // No Norwegian subscriber number begins with 0.
  phone: (n) => `+470000${String(n).padStart(4, '0')}`,
  street: 'Prøveveien',
  postalCode: '0001',
  city: 'Oslo',
  country: 'NO',
};
