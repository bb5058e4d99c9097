import { describe, expect, test } from 'vitest';
import { ConnectorError } from '../errors.ts';
import { childOf, leaves, readXml, textOf, writeXml } from './xml.ts';

function rejectionOf(text: string): ConnectorError {
  try {
    readXml(text);
  } catch (error) {
    if (error instanceof ConnectorError) return error;
  }
  throw new Error('Expected a ConnectorError');
}

const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY lol${n + 1} "${`&lol${n};`.repeat(10)}">`).join('');

describe('reading XML', () => {
  test.each([
    ['an external entity', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'],
    [
      'an external entity behind a declaration',
      '<?xml version="1.0"?>\n<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd"><a/>',
    ],
    [
      'an external entity behind a comment with a tag',
      '<!-- <a> --><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
    ],
    ['a parameter entity', '<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1:1/x">%x;]><a/>'],
    ['a billion laughs', `<!DOCTYPE a [<!ENTITY lol0 "lol">${laughs}]><a>&lol9;</a>`],
    ['a quadratic blow-up', `<!DOCTYPE a [<!ENTITY x "${'x'.repeat(50_000)}">]><a>${'&x;'.repeat(5_000)}</a>`],
    ['a document type alone', '<!DOCTYPE a><a/>'],
  ])('rejects %s', (_, text) => {
    const before = performance.now();
    const error = rejectionOf(text);
    expect(error.kind).toBe('rejected');
    // Far below what it takes to write ten to the ninth copies of a word.
    expect(performance.now() - before).toBeLessThan(30_000);
  });

  test.each([
    ['nothing', ''],
    ['a page', '<html><body><p>Secret</body></html>'],
    ['JSON', '{"secret": true}'],
    ['an unknown entity', '<a>&secret;</a>'],
    ['a prefix without a namespace', '<s:a>Secret</s:a>'],
    ['two roots', '<a>Secret</a><b/>'],
    ['a great depth', `${'<a>'.repeat(100)}Secret${'</a>'.repeat(100)}`],
  ])('rejects %s, and does not quote it', (_, text) => {
    const error = rejectionOf(text);
    expect(error.kind).toBe('rejected');
    expect(`${error.message} ${String(error.cause)}`).not.toMatch(/secret/i);
  });

  test('finds elements by namespace, whatever the prefix', () => {
    const documents = [
      '<a xmlns="urn:x"><b>1</b></a>',
      '<p:a xmlns:p="urn:x"><q:b xmlns:q="urn:x">1</q:b></p:a>',
      '<p:a xmlns:p="urn:x" xmlns="urn:other"><b>2</b><p:b> <![CDATA[1]]> </p:b></p:a>',
    ];
    for (const text of documents) expect(textOf(readXml(text), 'urn:x', 'b')).toBe('1');
    const other = readXml('<p:a xmlns:p="urn:x" xmlns="urn:y"><b>2</b></p:a>');
    expect(childOf(other, 'urn:x', 'b')).toBeUndefined();
  });
});

describe('writing XML', () => {
  test('escapes, leaves out what is empty, and drops what XML cannot carry', () => {
    const text = writeXml({
      namespace: 'urn:x',
      name: 'a',
      content: leaves('urn:y', {
        b: '<&>"\' å 🩺',
        c: '',
        d: undefined,
        e: ['be\u0000ll\u0007\uFFFE', ''],
        f: '\u0000',
      }),
    });
    expect(text).toMatch(/^<\?xml version="1\.0" encoding="UTF-8"\?>/);
    const read = readXml(text);
    expect(read).toMatchObject({ namespace: 'urn:x', name: 'a' });
    expect(read.children.map(({ namespace, name, text: inner }) => [namespace, name, inner])).toEqual([
      ['urn:y', 'b', '<&>"\' å 🩺'],
      ['urn:y', 'e', 'bell'],
    ]);
  });

  test('writes attributes, and elements without a namespace inside one that has one', () => {
    const inner = { namespace: '', name: 'c', content: '1' };
    const content = [{ namespace: '', name: 'b', attributes: { d: '"<2' }, content: [inner] }];
    const text = writeXml({ namespace: 'urn:x', name: 'a', content });
    expect(text).toContain('d="&quot;&lt;2"');
    const b = childOf(readXml(text), '', 'b');
    expect(b && textOf(b, '', 'c')).toBe('1');
  });

  test('a text cannot become markup', () => {
    const evil = ']]></b></a><evil/>';
    const read = readXml(writeXml({ namespace: 'urn:x', name: 'a', content: leaves('urn:x', { b: evil }) }));
    expect(read.children.map(({ name, text }) => [name, text])).toEqual([['b', evil]]);
  });
});
