/** The zone of the contracts' local times. */
export const timeZone = 'Europe/Stockholm';

/** Synthetic numbers of the Swedish Tax Agency. */
export const patients = { first: '191212121212', second: '198507099805', nobody: '190001010106' } as const;

export interface Facility {
  readonly hsaId: string;
  readonly name: string;
  readonly performers: readonly { readonly id: string; readonly firstName: string; readonly lastName: string }[];
  readonly timeTypes: readonly { readonly id: string; readonly name: string }[];
}

export const north: Facility = {
  hsaId: 'SE2321000000-1NRD',
  name: 'Vårdcentralen Norr',
  performers: [
    { id: 'SE2321000000-P001', firstName: 'Astrid', lastName: 'Åkerström' },
    { id: 'SE2321000000-P002', firstName: 'Björn', lastName: 'Öberg & Söner' },
  ],
  timeTypes: [
    { id: 'besok', name: 'Besök' },
    { id: 'provtagning', name: 'Provtagning' },
  ],
};

export const south: Facility = {
  hsaId: 'SE2321000000-2SDR',
  name: 'Vårdcentralen Söder',
  performers: [{ id: 'SE2321000000-P003', firstName: 'Cecilia', lastName: 'Ek' }],
  timeTypes: [{ id: 'besok', name: 'Besök' }],
};

export const facilities: readonly Facility[] = [north, south];
