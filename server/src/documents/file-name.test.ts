import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fileName } from './file-name.ts';
import { isTitle } from './title.ts';

test.each([
  ['Referral', 'application/pdf', 'Referral.pdf'],
  ['Scan.PDF', 'application/pdf', 'Scan.PDF'],
  ['Lab 3/4', 'text/plain', 'Lab 3 4.txt'],
  ['../../etc/passwd', 'text/plain', 'etc passwd.txt'],
  ['C:\\x', 'image/png', 'C x.png'],
  ['a\u202efdp.exe', 'application/pdf', 'a fdp.exe.pdf'],
  ['con', 'image/jpeg', 'document con.jpg'],
  ['…', 'text/plain', '….txt'],
  [' .. ', 'text/plain', 'document.txt'],
  [null, undefined, 'document.bin'],
] as const)('the title %j of type %s becomes the file name %j', (title, contentType, name) => {
  expect(fileName(title, contentType)).toBe(name);
});

test('no title becomes a path, a hidden file or a name with control characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (title) => {
      const name = fileName(title, 'application/pdf');
      expect(name).toMatch(/^[^./\\:\p{Cc}][^/\\:\p{Cc}]*\.pdf$/iu);
      expect(name.isWellFormed()).toBe(true);
    }),
  );
});

test.each(['Referral', 'Lab 3/4', '~ 5 mg', 'Notat…', 'a.b', '…/x', 'Kl. 12:30'])('%j can be a title', (text) => {
  expect(isTitle(text)).toBe(true);
});

test.each([
  '',
  ' ',
  '../../x.pdf',
  '..',
  './x',
  'a/../b',
  '/x',
  '~/x',
  'C:',
  'C:/x',
  'a\\b',
  'a\tb',
  'a\u2028b',
  '\ud800',
])('%j cannot be a title', (text) => {
  expect(isTitle(text)).toBe(false);
});
