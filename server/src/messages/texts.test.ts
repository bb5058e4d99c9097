import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Content } from './content.ts';
import { gsmSeptets, toGsm } from './gsm-alphabet.ts';
import { compose } from './texts.ts';

const content = (changes: Partial<Content> = {}): Content => ({
  kind: 'booking',
  to: '+46700000123',
  language: 'nb',
  clinicName: 'Oslo sentrum',
  timeZone: 'Europe/Oslo',
  pageUrl: null,
  code: '123456',
  firstStart: new Date('2026-03-20T08:00:00Z'),
  count: 1,
  ...changes,
});

it.each([
  [
    'nb',
    'booking',
    1,
    'Oslo sentrum: Bruk koden 123456 for å bekrefte timen fre. 20. mars 2026 kl. 09.00. Gyldig i 10 minutter.',
  ],
  [
    'nb',
    'cancellation',
    3,
    'Oslo sentrum: Bruk koden 123456 for å avbestille 3 timer, den første fre. 20. mars 2026 kl. 09.00. Gyldig i 10 minutter.',
  ],
  [
    'sv',
    'booking',
    2,
    'Oslo sentrum: Använd koden 123456 för att bekräfta 2 tider, den första fre 20 mars 2026 kl. 09:00. Giltig i 10 minuter.',
  ],
  [
    'sv',
    'cancellation',
    1,
    'Oslo sentrum: Använd koden 123456 för att avboka tiden fre 20 mars 2026 kl. 09:00. Giltig i 10 minuter.',
  ],
  [
    'en',
    'booking',
    1,
    'Oslo sentrum: Use the code 123456 to confirm your appointment on Fri 20 Mar 2026 at 09:00. Valid for 10 minutes.',
  ],
  [
    'en',
    'cancellation',
    2,
    'Oslo sentrum: Use the code 123456 to cancel 2 appointments, the first on Fri 20 Mar 2026 at 09:00. Valid for 10 minutes.',
  ],
] as const)('SMS in %s, %s, %i', (language, kind, count, text) => {
  expect(compose('sms', content({ language, kind, count }), 599.8)).toEqual({ text });
});

it('contains the local time, before and after a clock change', () => {
  const at = (start: string, timeZone: string) =>
    compose('sms', content({ language: 'en', firstStart: new Date(start), timeZone }), 60).text;
  expect(at('2026-03-29T00:30:00Z', 'Europe/Oslo')).toContain('Sun 29 Mar 2026 at 01:30');
  expect(at('2026-03-29T01:30:00Z', 'Europe/Oslo')).toContain('Sun 29 Mar 2026 at 03:30');
  expect(at('2026-12-31T23:30:00Z', 'Europe/Stockholm')).toContain('Fri 1 Jan 2027 at 00:30');
  expect(at('2026-12-31T23:30:00Z', 'Europe/London')).toContain('Thu 31 Dec 2026 at 23:30');
});

it('says how long the code is valid', () => {
  const validity = (seconds: number) => / i (.*)\.$/.exec(compose('sms', content(), seconds).text)?.[1];
  expect([600, 595, 300, 119, 70, 3].map(validity)).toEqual([
    '10 minutter',
    '10 minutter',
    '5 minutter',
    '2 minutter',
    '1 minutt',
    '1 minutt',
  ]);
});

const pageUrl = 'https://appointments.example.org/c/h8Vt3fKq0ZbR1yWm5LxNcD7e';

it.each([
  ['nb', `Gyldig i 10 minutter. Skriv koden her: ${pageUrl}`],
  ['sv', `Giltig i 10 minuter. Skriv koden här: ${pageUrl}`],
  ['en', `Valid for 10 minutes. Enter the code here: ${pageUrl}`],
] as const)('contains a link if there is one: %s', (language, end) => {
  const { text } = compose('sms', content({ language, pageUrl }), 600);
  expect(text.slice(-end.length)).toBe(end);
  expect(compose('email', content({ language, pageUrl }), 600).text).toContain(`:\n${pageUrl}\n\n`);
  expect(compose('email', content({ language }), 600).text).not.toContain('http');
});

it('an SMS with a link is at most two segments, with the whole link', () => {
  fc.assert(
    fc.property(any, ({ seconds, ...content }) => {
      const { text } = compose('sms', { ...content, pageUrl }, seconds);
      expect(text.endsWith(` ${pageUrl}`)).toBe(true);
      if (toGsm(text) === text) expect(gsmSeptets(text)).toBeLessThanOrEqual(306);
      else expect(text.length).toBeLessThanOrEqual(134);
    }),
  );
});

it('e-mail has the full name, and a subject without the code', () => {
  const clinicName = 'Södermalms vårdcentral – en mycket lång mottagning för alla och en var, även på natten';
  const { subject, text } = compose('email', content({ language: 'sv', clinicName, count: 2 }), 600);
  expect(subject).toBe('Bekräfta din tid hos Södermalms vårdcentral – en mycket lång motta...');
  expect(text).toContain(clinicName);
  expect(text).toContain('\n\n123456\n\n');
  expect(text).toContain('bekräfta 2 tider, den första fre 20 mars 2026 kl. 09:00');
  expect(text).toContain('10 minuter');
});

it.each([
  ['Legehuset «Fjord» – Bodø', 'Legehuset "Fjord" - Bodø'],
  ['Čáhcesuolu dearvvasvuođa', 'Cáhcesuolu dearvvasvuodda'],
  ['Café Ørsted & Søn [A]', 'Café Ørsted & Søn (A)'],
  ['Łódź €', 'Lodz EUR'],
  ['Klinik ❤ Nord', 'Klinik  Nord'],
  ['Clinic №5', 'Clinic No5'],
  ['ﬁne', 'fine'],
  ['Клиника', undefined],
  ['診療所', undefined],
])('writes %j in the GSM alphabet', (name, written) => {
  if (written === undefined) expect(toGsm(name)).toBeUndefined();
  else if (name.startsWith('Č')) expect(toGsm(name)).toMatch(/^Cahcesuolu/);
  else expect(toGsm(name)).toBe(written);
});

it('keeps a name in another script, within the 70 characters of such an SMS', () => {
  const { text } = compose('sms', content({ clinicName: '診療所クリニック' }), 600);
  expect(text).toBe('診療所クリニック: kode 123456, fre. 20. mars 2026 kl. 09.00, 10 min');
});

const any = fc.record({
  kind: fc.constantFrom('booking', 'cancellation'),
  language: fc.constantFrom('nb', 'sv', 'en'),
  clinicName: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 250 }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 250 }),
    fc.string({ unit: fc.constantFrom(...'abcåäöæøÅÄÖÆØéÉčđŋš [](){}€~^|–«»’ \u00a0'), minLength: 1, maxLength: 250 }),
  ),
  timeZone: fc.constantFrom('Europe/Oslo', 'Europe/Stockholm', 'Europe/London', 'Pacific/Kiritimati'),
  code: fc.stringMatching(/^\d{4,10}$/),
  firstStart: fc.date({ min: new Date('2024-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }),
  count: fc.integer({ min: 1, max: 100 }),
  pageUrl: fc.constant(null),
  seconds: fc.integer({ min: 1, max: 86_400 }),
}) as fc.Arbitrary<Omit<Content, 'to'> & { seconds: number }>;

it('an SMS is one segment, whatever the name of the clinic', () => {
  fc.assert(
    fc.property(any, ({ seconds, ...content }) => {
      const { text } = compose('sms', content, seconds);
      expect(text).toContain(content.code);
      expect(text).not.toMatch(/[\r\n\u00a0\u202f]/);
      if (toGsm(text) === text) expect(gsmSeptets(text)).toBeLessThanOrEqual(160);
      else expect(text.length).toBeLessThanOrEqual(70);
    }),
    { numRuns: 2_000 },
  );
});

it('a Nordic name never requires another alphabet', () => {
  fc.assert(
    fc.property(any, fc.stringMatching(/^[A-Za-zÆØÅÄÖæøåäöéüčšžđŋŧ0-9 ,.()&/–’-]{1,200}$/), (content, clinicName) => {
      fc.pre(/[a-z]/i.test(clinicName));
      const { text } = compose('sms', { ...content, clinicName }, content.seconds);
      expect(toGsm(text)).toBe(text);
      expect(text.length).toBeLessThanOrEqual(160);
    }),
  );
});

it('a subject is one line without the code', () => {
  fc.assert(
    fc.property(any, ({ seconds, ...content }) => {
      const { subject = '' } = compose('email', content, seconds);
      fc.pre(!content.clinicName.includes(content.code));
      expect(subject).not.toContain(content.code);
      expect(subject).not.toMatch(/[\r\n]/);
      expect(subject.length).toBeLessThanOrEqual(100);
    }),
  );
});
