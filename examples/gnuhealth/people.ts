/** Ids of what was added. */
export interface Hospital {
  readonly institutions: { readonly north: number; readonly south: number };
  readonly specialty: number;
  /** Two at the North Clinic, one at the South Clinic. */
  readonly professionals: { readonly ada: number; readonly bo: number; readonly cleo: number };
  /** The author of notes that name none. */
  readonly gateway: number;
  /** Kari has a number. */
  readonly patients: { readonly kari: number; readonly ola: number };
  readonly kariNumber: string;
}

interface Options {
  readonly url: string;
  readonly database: string;
  /** The administrator's password. */
  readonly admin: string;
  /** Passwords by user. */
  readonly logins: Readonly<Record<string, string>>;
  readonly alsoFree: readonly Date[];
}

type Create = (model: string, values: readonly object[]) => Promise<number[]>;

const minutes = 30;
/** Reserved for tests: it belongs to nobody. */
const kariNumber = '13116900216';

/** Fills an empty GNU Health over its own interface. */
export async function addPeople({ url, database, admin, logins, alsoFree }: Options): Promise<Hospital> {
  const call = await signIn(`${url}/${database}/`, admin);
  const create: Create = async (model, values) => {
    // Parties in one call would get the same code.
    const calls = model === 'party.party' ? values.map((it) => [it]) : [values];
    const ids: number[] = [];
    for (const list of calls) ids.push(...((await call(`model.${model}.create`, [list])) as number[]));
    return ids;
  };
  const company = await addCompany(create);
  await addUsers(call, create, company, logins);
  const [north = 0, south = 0] = await addInstitutions(create);
  const [specialty = 0] = (await call('model.gnuhealth.specialty.search', [
    [['code', '=', 'FAMILY']],
    0,
    1,
    null,
  ])) as number[];
  const [ada = 0, bo = 0, cleo = 0, gateway = 0] = await addProfessionals(create, specialty, [
    north,
    north,
    south,
    north,
  ]);
  const [kari = 0, ola = 0] = await addPatients(create);
  const starts = [...ordinaryStarts(), ...alsoFree];
  for (const [healthprof, institution] of [
    [ada, north],
    [bo, north],
    [cleo, south],
  ] as const) {
    await create(
      'gnuhealth.appointment',
      starts.map((start) => freeAppointment(start, { healthprof, institution, specialty })),
    );
  }
  return {
    institutions: { north, south },
    specialty,
    professionals: { ada, bo, cleo },
    gateway,
    patients: { kari, ola },
    kariNumber,
  };
}

/** Tryton's JSON-RPC. */
async function signIn(url: string, password: string) {
  let authorization: string | undefined;
  const send = async (method: string, params: readonly unknown[]) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
      body: JSON.stringify({ id: 0, method, params }),
    });
    const text = await response.text();
    const { result, error } = text === '' ? { result: undefined, error: undefined } : JSON.parse(text);
    if (!response.ok || error) throw new Error(`${method}: ${response.status} ${JSON.stringify(error)}`);
    return result as unknown;
  };
  const [userId, session] = (await send('common.db.login', ['admin', { password }])) as [number, string];
  authorization = `Session ${Buffer.from(`admin:${userId}:${session}`).toString('base64')}`;
  return (method: string, params: readonly unknown[]) => send(method, [...params, {}]);
}

async function addCompany(create: Create): Promise<number> {
  const rounding = { __class__: 'Decimal', decimal: '0.01' };
  const [currency] = await create('currency.currency', [
    { name: 'Euro', code: 'EUR', symbol: '€', digits: 2, rounding },
  ]);
  const [party] = await create('party.party', [{ name: 'Example Hospital' }]);
  const [company = 0] = await create('company.company', [{ party, currency, timezone: 'Europe/Oslo' }]);
  return company;
}

async function addUsers(
  call: Awaited<ReturnType<typeof signIn>>,
  create: Create,
  company: number,
  logins: Options['logins'],
): Promise<void> {
  const names = ['Health Front Desk', 'Health Doctor'];
  const groups = (await call('model.res.group.search', [[['name', 'in', names]], 0, null, null])) as number[];
  await create(
    'res.user',
    Object.entries(logins).map(([login, password]) => ({
      name: login,
      login,
      password,
      groups: [['add', groups]],
      companies: [['add', [company]]],
      company,
    })),
  );
}

async function addInstitutions(create: Create): Promise<number[]> {
  const parties = await create('party.party', [
    { name: 'North Clinic', is_institution: true },
    { name: 'South Clinic', is_institution: true },
  ]);
  const codes = ['NORTH', 'SOUTH'];
  return create(
    'gnuhealth.institution',
    parties.map((party, index) => ({ party, code: codes[index], institution_type: 'clinic', public_level: 'private' })),
  );
}

async function addProfessionals(create: Create, specialty: number, institutions: readonly number[]): Promise<number[]> {
  const names = [
    ['Ada', 'Berg'],
    ['Bo', 'Dahl'],
    ['Cleo', 'Eng'],
    ['Crossward', 'Gateway'],
  ];
  const parties = await create(
    'party.party',
    names.map(([name, lastname]) => ({
      name,
      lastname,
      is_person: true,
      is_healthprof: true,
      gender: 'f',
      fed_country: '',
    })),
  );
  return create(
    'gnuhealth.healthprofessional',
    parties.map((party, index) => ({
      party,
      institution: institutions[index],
      specialties: [['create', [{ specialty }]]],
    })),
  );
}

async function addPatients(create: Create): Promise<number[]> {
  const person = { is_person: true, is_patient: true, fed_country: '' };
  const dob = { __class__: 'date', year: 1969, month: 11, day: 13 };
  const contacts = [
    { type: 'mobile', value: '+4790000001' },
    { type: 'email', value: 'kari@example.org' },
  ];
  const parties = await create('party.party', [
    {
      ...person,
      name: 'Kari',
      lastname: 'Nordmann',
      gender: 'f',
      dob,
      ref: kariNumber,
      contact_mechanisms: [['create', contacts]],
    },
    { ...person, name: 'Ola', lastname: 'Hansen', gender: 'm', dob },
  ]);
  return create(
    'gnuhealth.patient',
    parties.map((party) => ({ party })),
  );
}

/** From 08:00 UTC on each of ten days, counted from the day after tomorrow. */
function ordinaryStarts(): Date[] {
  const first = new Date(Date.now() + 2 * 24 * 60 * 60_000);
  first.setUTCHours(8, 0, 0, 0);
  const day = 24 * 60;
  return Array.from(
    { length: 80 },
    (_, index) => new Date(first.getTime() + (Math.floor(index / 8) * day + (index % 8) * minutes) * 60_000),
  );
}

function freeAppointment(
  start: Date,
  { healthprof, institution, specialty }: { healthprof: number; institution: number; specialty: number },
) {
  return {
    state: 'free',
    healthprof,
    institution,
    speciality: specialty,
    appointment_date: dateTime(start),
    appointment_date_end: dateTime(new Date(start.getTime() + minutes * 60_000)),
  };
}

function dateTime(date: Date): object {
  return {
    __class__: 'datetime',
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    microsecond: 0,
  };
}
