import { describe, expect, test } from 'vitest';
import { attachmentData, attachmentText, rankOfText } from '../src/notes-and-documents/attachment.ts';
import { boundedHtml } from '../src/notes-and-documents/bounded-html.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const rtf = (text: string) => attachmentText(latin1(text), 'text/rtf');
const html = (text: string) => attachmentText(Buffer.from(text), 'text/html; charset=utf-8');

describe('plain text', () => {
  test.each([
    ['utf-8', 'text/plain; charset=UTF-8', Buffer.from('Blåbär € 𝄞'), 'Blåbär € 𝄞'],
    ['utf-8 without a charset', 'text/plain', Buffer.from('Blåbär'), 'Blåbär'],
    ['windows-1252 without a charset', 'text/plain', latin1('Bl\xe5b\xe4r \x80'), 'Blåbär €'],
    ['iso-8859-1', 'text/plain; charset="ISO-8859-1"', latin1('Bl\xe5b\xe4r'), 'Blåbär'],
    ['utf-16 with a byte order mark', 'text/plain', Buffer.from('\ufeffBlå', 'utf16le'), 'Blå'],
    ['an unknown charset', 'text/plain; charset=x-unknown', Buffer.from('Blå'), 'Blå'],
    ['white space at the ends', 'text/plain', Buffer.from(' a\r\n'), ' a\r\n'],
  ])('in %s', (_, contentType, bytes, text) => {
    expect(attachmentText(bytes, contentType)).toBe(text);
  });
});

describe('HTML becomes text', () => {
  test.each([
    ['<p>One<br>two</p><p>three &lt;4&nbsp;mg&gt; &aring;</p>', 'One\ntwo\n\nthree <4\u00a0mg> å'],
    ['<h1>Assessment</h1><ul><li>Rest</li><li>Water</li></ul>', 'Assessment\n\n * Rest\n * Water'],
    ['<style>p{}</style><script>alert(1)</script><p>Seen</p><img src="http://other.example/x.png">', 'Seen'],
    ['<a href="http://other.example">link</a>', 'link'],
    ['<!-- note --><p>unclosed <b>bold', 'unclosed bold'],
  ])('%s', (markup, text) => {
    expect(html(markup)).toBe(text);
  });

  test.each([
    ['<tr><th>Pulse</th><td>72</td></tr><tr><th>Temp</th><td><p>37.2</p></td></tr>', 'Pulse\t72\nTemp\t37.2'],
    ['<caption>Vital signs</caption><thead><tr><th>Pulse</th></tr></thead>', 'Vital signs\nPulse'],
    ['<tr><td rowspan=2>May</td><td>72</td></tr><tr><td>80</td></tr><tr><td>June</td></tr>', 'May\t72\n\t80\nJune'],
    ['<tr><td colspan=2>May</td><td>June</td></tr>', 'May\t\tJune'],
    ['<tr><td><p>One</p><p>Two</p></td><td>Three</td></tr>', 'One\n\nTwo\nThree'],
    ['<tr><td colspan=-1 rowspan=0>a</td><td colspan=x>b</td></tr>', 'a\tb'],
    ['<tr><td>a<table><tr><td>b<td>c</table></td></tr>', 'a\n\nb\tc'],
  ])('with the table %s', (markup, text) => {
    expect(html(`<table>${markup}</table>`)).toBe(text);
  });

  test.each([
    '<tr><td colspan=99999999>a</td></tr>',
    '<tr><td rowspan=99999999>a</td></tr>',
    `<tr><td>${'a'.repeat(5000)}</td><td>b</td></tr>${'<tr><td>a</td><td>b</td></tr>'.repeat(1000)}`,
    `<tr>${'<td rowspan=99 colspan=99>a</td>'.repeat(500)}</tr>${'<tr><td>a</td></tr>'.repeat(100)}`,
  ])('that is not much longer than its table', (markup) => {
    expect(html(`<table>${markup}</table>`).length).toBeLessThan(markup.length + 10_000);
  });

  test.each(['', '<p></p>', '<'.repeat(10_000), '<div>'.repeat(5_000)])('of any shape', (markup) => {
    expect(html(markup)).toEqual(expect.any(String));
  });
});

describe('HTML that is nested too deep', () => {
  /** How deep elements are nested, for markup in which every element has an end tag. */
  function depthOf(markup: string): number {
    let [depth, deepest] = [0, 0];
    for (const [, end] of markup.matchAll(/<(\/?)[a-z]+(?:\s[^>]*)?>/g)) {
      depth += end === '/' ? -1 : 1;
      deepest = Math.max(deepest, depth);
    }
    return deepest;
  }
  const many = 100_000;

  test.each([
    ['<div>', '</div>'],
    ['<div title="<b>">', '</div>'],
    ['<p><td>', '</td></p>'],
    ['<DIV/ ><span\n>', '</span ></DIV\n>'],
    ["<i a='>' <!-- '>", '</i>'],
  ])('%s keeps its text', (begin, end) => {
    const markup = `<p>Before</p>${begin.repeat(many)}Inside${end.repeat(many)}<p>After</p>`;
    expect(html(markup)).toMatch(/^Before\s+Inside\s+After$/);
  });

  test('is parsed to a bounded depth', () => {
    const markup = `${'<div><b>'.repeat(many)}Inside${'</b></div>'.repeat(many)}<p><i>After</i></p>`;
    const bounded = boundedHtml(markup);
    expect(depthOf(markup)).toBe(2 * many);
    expect(depthOf(bounded)).toBe(100);
    expect(bounded).toMatch(/Inside.*<p><i>After<\/i><\/p>$/);
  });

  test('in elements without end tags keeps its text', () => {
    expect(html(`${'<b>x'.repeat(many)}y`)).toBe(`${'x'.repeat(many)}y`);
  });

  test.each([
    '<ul><li>One<li>Two</ul>'.repeat(200),
    '<p>One'.repeat(500),
    `<table>${'<tr><td>a<td>b'.repeat(500)}</table>`,
    `<select>${'<option>a'.repeat(500)}</select>`,
    '<br><hr><img src=x>'.repeat(500),
    '<p>unclosed <a href="',
  ])('is nothing else: %#', (markup) => {
    expect(boundedHtml(markup)).toBe(markup);
  });
});

describe('RTF becomes text', () => {
  test.each([
    ['paragraphs and tabs', '{\\rtf1\\ansi One\\par Two\\tab 2\\line three\\par}', 'One\nTwo\t2\nthree'],
    [
      'no tables of fonts and colours',
      '{\\rtf1{\\fonttbl{\\f0 Arial;}}{\\colortbl;\\red1;}{\\*\\generator x;}Text}',
      'Text',
    ],
    ['escaped characters', '{\\rtf1 a \\{b\\} \\\\c}', 'a {b} \\c'],
    ['bytes of the code page', "{\\rtf1\\ansi\\ansicpg1252 Bl\\'e5b\\'e4r \\'80}", 'Blåbär €'],
    ['bytes of another code page', "{\\rtf1\\ansi\\ansicpg1251 \\'cf\\'f0}", 'Пр'],
    ['bytes of a double-byte code page', "{\\rtf1\\ansi\\ansicpg932 \\'93\\'fa}", '日'],
    ['Unicode with one alternative', '{\\rtf1\\ansi \\u229?\\u-10188?\\u-8930?.}', 'å𝄞.'],
    ['Unicode with an alternative as byte', "{\\rtf1\\ansi \\u8364\\'80!}", '€!'],
    ['Unicode without alternatives', '{\\rtf1{\\uc0 \\u229 b}c\\u228?d}', 'åbcäd'],
    ['no hidden text', '{\\rtf1 a{\\v hidden}b\\v c\\v0 d}', 'abd'],
    ['no deleted text', '{\\rtf1 a\\deleted b\\deleted0 c}', 'ac'],
    ['cells of a table', '{\\rtf1\\trowd a\\cell b\\cell\\row c\\cell d\\cell\\row}', 'a\tb\t\nc\td'],
    ['no binary data', '{\\rtf1 a{\\pict\\bin4 }{\\}}b}', 'ab'],
    ['the result of a field', '{\\rtf1{\\field{\\*\\fldinst HYPERLINK "x"}{\\fldrslt link}}}', 'link'],
    ['line breaks of the file as nothing', '{\\rtf1 a\r\nb\\\nc}', 'ab\nc'],
    ['what is left of a broken file', '{\\rtf1 a}}} b {{', 'a b'],
    ['nothing of an empty file', '', ''],
  ])('with %s', (_, source, text) => {
    expect(rtf(source)).toBe(text);
  });
});

test('plain text is the best source, and a PDF is none', () => {
  const ranks = ['text/plain; charset=utf-8', 'TEXT/HTML', 'application/rtf'].map(rankOfText);
  expect(ranks).toEqual(ranks.toSorted((a = 9, b = 9) => a - b));
  for (const other of ['application/pdf', 'image/png', '', undefined]) expect(rankOfText(other)).toBeUndefined();
});

test.each([
  ['Binary/1', 'Binary/1'],
  ['https://ehr.example/fhir/Binary/1', 'Binary/1'],
  ['https://ehr.example/fhir/Binary/a.b-c/_history/2', 'Binary/a.b-c'],
  ['https://other.example/fhir/Binary/1', undefined],
  ['https://ehr.example.evil.example/fhir/Binary/1', undefined],
  ['http://ehr.example/fhir/Binary/1', undefined],
  ['//other.example/Binary/1', undefined],
  ['Binary/..', undefined],
  ['Binary/../Patient/1', undefined],
  ['Binary/1?x=y', undefined],
  ['Patient/1', undefined],
  ['data:text/plain,x', undefined],
  ['https://storage.example/binary/1/2?Signature=x', 'Binary/1'],
  ['https://storage.example/binary/1', 'Binary/1'],
  ['https://storage.example/binary/../Patient/1', undefined],
  ['https://storage.example/1', undefined],
  [undefined, undefined],
])('of the attachment URL %s the connector reads %s', async (url, reference) => {
  const read: string[] = [];
  const client = {
    read: async (name: string) => {
      read.push(name);
      return null;
    },
    download: async () => null,
  };
  const settings = { base_url: 'https://ehr.example/fhir/', binary_storage_url: 'https://storage.example/binary' };
  expect(await attachmentData(client, settings, url === undefined ? {} : { url })).toBeNull();
  expect(read).toEqual(reference === undefined ? [] : [reference]);
});
