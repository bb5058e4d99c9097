import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { FhirResource } from '../src/fhir.ts';
import { startFake } from './fake.ts';
import { base64, clinicalNote, start } from './medical-notes-server.ts';
import { north, openConnector, settingsFor, south } from './subject.ts';

const ids = (notes: readonly { readonly id: string }[]) => notes.map(({ id }) => id);

describe('a note in the EHR', () => {
  test('is what International Patient Access requires', async () => {
    const { write, documents } = await start();
    const operationId = randomUUID();
    await write({ operationId, authorId: 'r-1', title: 'Control', appointmentId: 'a-1' });
    expect(documents()).toEqual([
      {
        resourceType: 'DocumentReference',
        id: expect.any(String),
        meta: expect.anything(),
        extension: [{ url: 'urn:crossward:content-hash', valueString: expect.any(String) }],
        identifier: [{ system: 'urn:crossward:operation', value: operationId }],
        status: 'current',
        docStatus: 'final',
        type: { coding: [{ system: 'http://loinc.org', code: '11506-3', display: 'Progress note' }] },
        category: [{ coding: [{ ...clinicalNote, display: 'Clinical Note' }] }],
        subject: { reference: 'Patient/p-1' },
        date: expect.any(String),
        author: [{ reference: 'Practitioner/r-1' }],
        description: 'Control',
        content: [
          {
            attachment: {
              contentType: 'text/plain; charset=utf-8',
              data: base64('Well.'),
              title: 'Control',
              creation: expect.any(String),
            },
          },
        ],
        context: { related: [{ reference: 'Appointment/a-1' }, { reference: 'Location/north' }] },
      },
    ]);
  });

  test('has the category and type of the settings, and is found by them', async () => {
    const category = { system: 'urn:categories', code: 'journal' };
    const { write, documents, list, save } = await start(
      {},
      { medical_notes: { category, type: { ...category, code: 'x' } } },
    );
    const { id } = await write();
    save();
    expect(documents()[0]).toMatchObject({ category: [{ coding: [category] }], type: { coding: [{ code: 'x' }] } });
    expect(ids(await list())).toEqual([id]);
  });

  test('names the role of its author if the settings say so', async () => {
    const { write, documents, list } = await start({}, { medical_notes: { author: 'practitioner_role' } });
    await write({ authorId: 'r-2' });
    await write({ authorId: 'r-1' });
    expect(documents().map(({ author }) => author?.[0]?.reference)).toEqual([
      'PractitionerRole/role-2',
      'Practitioner/r-1',
    ]);
    expect(await list({ authorId: 'r-2' })).toMatchObject([{ authorId: 'r-2' }]);
  });

  test('of several patients keeps the appointment of its own', async () => {
    const { write, find } = await start();
    const { id, appointmentId } = await write({ appointmentId: 'a-1_p-1' });
    expect([appointmentId, (await find(id))?.appointmentId]).toEqual(['a-1_p-1', 'a-1_p-1']);
  });

  test('is written for a patient who has died, and to the record that has replaced the named one', async () => {
    const { server, write } = await start();
    const died = { ...server.store.get('Patient/p-2'), deceasedBoolean: true };
    server.store.save(died as FhirResource);
    const link = [{ type: 'replaced-by', other: { reference: 'Patient/p-2' } }];
    server.store.save({ ...server.store.get('Patient/p-3'), link } as FhirResource);
    expect(await write({ patientId: 'p-2' })).toMatchObject({ patientId: 'p-2' });
    expect(await write({ patientId: 'p-3' })).toMatchObject({ patientId: 'p-2' });
  });
});

describe('a list', () => {
  test('sorts equal dates by id, through pages of any size', async () => {
    const { save, list } = await start({ pageSize: 3, shufflesPages: true });
    const made = Array.from({ length: 8 }, () => save())
      .sort()
      .reverse();
    const oldest = save({ date: '2026-03-19T09:00:00Z' });
    const newest = save({ date: '2026-03-20T09:00:00.5Z' });
    const whole = await list();
    expect(ids(whole)).toEqual([newest, ...made, oldest]);
    for (const limit of [1, 4]) {
      const found = [];
      for (let page = await list({ limit }); page.length > 0; page = await list({ limit, after: found.at(-1) })) {
        found.push(...page);
      }
      expect(ids(found)).toEqual(ids(whole));
    }
  });

  test('reads only the pages that it needs', async () => {
    const { server, save, list } = await start({ pageSize: 3 });
    for (let minute = 10; minute < 40; minute++) save({ date: `2026-03-20T09:${minute}:00Z` });
    server.seen.splice(0);
    expect(await list({ limit: 4 })).toHaveLength(4);
    const searches = server.seen.filter(({ path }) => path.startsWith('/DocumentReference'));
    // Two pages, and the search for documents without a date.
    expect(searches.map(({ method }) => method).sort()).toEqual(['GET', 'POST', 'POST']);
    expect(searches.filter(({ method }) => method === 'POST').map(({ query }) => query)).toEqual(['', '']);
  });

  test('has documents without a date', async () => {
    const { save, list } = await start();
    const { date: _, ...attachment } = { date: '', contentType: 'text/plain', data: base64('x') };
    const dated = save();
    const created = save({
      date: undefined,
      content: [{ attachment: { ...attachment, creation: '2026-03-20T10:00:00Z' } }],
    });
    const updated = save({ date: undefined });
    expect(ids(await list())).toEqual([updated, created, dated]);
    expect(ids(await list({ end: new Date('2026-03-20T10:00:00Z') }))).toEqual([dated]);
    expect(ids(await list({ limit: 1, after: { createdAt: new Date('2026-03-20T10:00:00Z'), id: created } }))).toEqual([
      dated,
    ]);
  });

  test('works on a server that rejects the modifier `missing`', async () => {
    const { server, save, list } = await start();
    const id = save();
    server.misbehave = ({ body }) => (body.includes('missing') ? { status: 400 } : undefined);
    expect(ids(await list())).toEqual([id]);
    server.seen.splice(0);
    await list();
    expect(server.seen.filter(({ body }) => body.includes('missing'))).toEqual([]);
  });

  test('leaves out what is no note', async () => {
    const { save, list, find } = await start();
    const others = [
      save({ status: 'entered-in-error' }),
      save({ status: 'superseded' }),
      save({ docStatus: 'entered-in-error' }),
      save({ category: [{ coding: [{ ...clinicalNote, code: 'other' }] }] }),
      save({ content: [{ attachment: { contentType: 'application/pdf', data: base64('%PDF') } }] }),
      save({ subject: { reference: 'Patient/p-2' } }),
    ];
    expect(await list()).toEqual([]);
    for (const id of others) expect(await find(id)).toBeNull();
  });
});

describe('the care unit of a note', () => {
  const related = (...references: string[]) => ({
    context: { related: references.map((reference) => ({ reference })) },
  });

  test('is its Location, or that of its author’s role', async () => {
    const { save, list, find } = await start();
    const role = [{ reference: 'PractitionerRole/role-2' }];
    const here = [save(), save({ context: {}, author: role })];
    const elsewhere = [
      save(related('Location/south')),
      save({ ...related('Location/south'), author: role }),
      save({ context: {} }),
      save({ context: {}, author: [{ reference: 'Practitioner/r-1' }] }),
    ];
    expect(ids(await list()).sort()).toEqual(here.sort());
    for (const id of elsewhere) expect(await find(id)).toBeNull();
  });

  test('is every one where the server does not record it', async () => {
    const { save, list } = await start({}, { medical_notes: { care_unit: 'any' } });
    const unrecorded = save({ context: {} });
    save(related('Location/south'));
    expect(ids(await list())).toEqual([unrecorded]);
    expect(ids(await list({ careUnit: south }))).not.toEqual([]);
  });

  test('is that of a role that is known nowhere else', async () => {
    const { server, save, list, find } = await start({}, { medical_notes: { care_unit: 'any' } });
    const place = (id: string) => [{ reference: `Location/${id}` }];
    const role = { resourceType: 'PractitionerRole', active: true, practitioner: { reference: 'Practitioner/r-2' } };
    server.store.save({ ...role, id: 'far', location: place('south') } as FhirResource);
    server.store.save({ ...role, id: 'further', location: place('elsewhere') } as FhirResource);
    server.store.save({ ...role, id: 'nowhere' } as FhirResource);
    const by = (id: string) => save({ context: {}, author: [{ reference: `PractitionerRole/${id}` }] });
    const hidden = [by('far'), by('further')];
    const unrecorded = [by('nowhere'), by('deleted')];
    expect(ids(await list()).sort()).toEqual(unrecorded.sort());
    for (const id of hidden) expect(await find(id)).toBeNull();
  });

  test('is its custodian where the care unit is an Organization', async () => {
    const units = [
      { ...north, settings: { organization: 'Organization/north' } },
      { ...south, settings: { organization: 'Organization/south' } },
    ];
    const { write, documents, list } = await start({}, {}, units);
    const { id } = await write();
    expect(documents()[0]).toMatchObject({ custodian: { reference: 'Organization/north' } });
    expect(ids(await list())).toEqual([id]);
    expect(await list({ careUnit: south })).toEqual([]);
  });

  test('is no other one, whatever the settings say about notes that name none', async () => {
    const organizations = [
      { ...north, settings: { organization: 'Organization/north' } },
      { ...south, settings: { organization: 'Organization/south' } },
    ];
    const { write, save, list } = await start({}, { medical_notes: { care_unit: 'any' } }, organizations);
    const { id } = await write();
    const unrecorded = save({ context: {} });
    expect(ids(await list()).sort()).toEqual([id, unrecorded].sort());
    expect(ids(await list({ careUnit: south }))).toEqual([unrecorded]);

    const other = await start({}, {}, [
      { ...north, settings: { organization: 'Organization/north' } },
      { ...south, settings: { resources: ['r-3'] } },
    ]);
    await other.write();
    expect(await other.list({ careUnit: south })).toEqual([]);
  });

  test('is an identifier where the care unit has no place in the EHR', async () => {
    const units = [
      { ...north, settings: { resources: ['r-1'] } },
      { ...south, settings: { resources: ['r-3'] } },
    ];
    const { write, save, list } = await start({}, {}, units);
    const { id } = await write();
    const unrecorded = save({ context: {} });
    expect(ids(await list()).sort()).toEqual([id, unrecorded].sort());
    expect(ids(await list({ careUnit: south }))).toEqual([unrecorded]);
  });
});

describe('the text of a note', () => {
  test('is that of the best attachment', async () => {
    const { save, find } = await start();
    const content = [
      { attachment: { contentType: 'application/pdf', data: base64('%PDF') } },
      { attachment: { contentType: 'application/rtf', data: base64('{\\rtf1 rtf}') } },
      { attachment: { contentType: 'text/html', data: base64('<p>html</p>'), title: 'Title' } },
    ];
    expect(await find(save({ content }))).toMatchObject({ text: 'html', title: 'Title' });
  });

  test('is read from a Binary of the same server, and of no other', async () => {
    const { server, save, find, list } = await start();
    server.store.save({
      resourceType: 'Binary',
      id: 'b',
      contentType: 'text/html',
      data: base64('<b>in a Binary</b>'),
    } as FhirResource);
    const at = (url: string) => ({ content: [{ attachment: { contentType: 'text/html', url } }] });
    const readable = [save(at('Binary/b')), save(at(`${server.url}/Binary/b`))];
    for (const id of readable) expect(await find(id)).toMatchObject({ text: 'in a Binary' });
    const unreadable = [save(at('http://127.0.0.1:9/Binary/b')), save(at('Binary/gone'))];
    for (const id of unreadable) expect(await find(id)).toMatchObject({ text: '' });
    expect(await list()).toHaveLength(4);
  });

  test('is read from a Binary that the server sends without its data, as Medplum does', async () => {
    const { server, save, find } = await start({ signedUrls: true });
    const binary = { resourceType: 'Binary', contentType: 'text/html', data: base64('<b>in a Binary</b>') };
    const { id } = server.store.save(binary as FhirResource);
    const url = `${server.url}/Binary/${id}`;
    const note = save({ content: [{ attachment: { contentType: 'text/html', url } }] });
    expect(await find(note)).toMatchObject({ text: 'in a Binary' });
  });
});

test('the author is the practitioner of a role, known or not, or nobody', async () => {
  const { server, save, find } = await start();
  server.store.save({
    resourceType: 'PractitionerRole',
    id: 'elsewhere',
    practitioner: { reference: 'Practitioner/retired' },
  } as FhirResource);
  const by = (...references: string[]) => find(save({ author: references.map((reference) => ({ reference })) }));
  expect((await by('Practitioner/gone'))?.authorId).toBe('gone');
  expect((await by('PractitionerRole/role-2'))?.authorId).toBe('r-2');
  expect((await by('PractitionerRole/elsewhere'))?.authorId).toBe('retired');
  expect((await by('Organization/1', 'Device/scanner-1'))?.authorId).toBe('device_scanner-1');
  expect((await by('Organization/1'))?.authorId).toBeNull();
  expect((await by('PractitionerRole/gone'))?.authorId).toBeNull();
});

test('the appointment may be that of the encounter', async () => {
  const { server, save, find } = await start();
  const appointment = [{ reference: 'Appointment/a-1' }];
  server.store.save({ resourceType: 'Encounter', id: 'e', appointment } as FhirResource);
  const context = { encounter: [{ reference: 'Encounter/e' }], related: [{ reference: 'Location/north' }] };
  expect((await find(save({ context })))?.appointmentId).toBe('a-1');
});

test('a server without DocumentReferences has no notes', async () => {
  const server = await startFake({ documents: false, data: { days: 3 } });
  const connector = await openConnector(settingsFor(server.url));
  expect(Object.keys(connector).filter((name) => name.includes('MedicalNote'))).toEqual([]);
});
