// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are texts of sources.

/** A small fault that somebody could make, as a change of one place in the source. */
export interface Mutant {
  readonly name: string;
  /** A subject of `subjects.ts`. */
  readonly of: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
  /** Why no check of the kit catches it. Absent: one must. */
  readonly survives?: string;
}

type Part = Omit<Mutant, 'of' | 'file'>;

function inFile(of: string, file: string, parts: readonly Part[]): readonly Mutant[] {
  return parts.map((part) => ({ ...part, of, file }));
}

const gnuHealth = (file: string, parts: readonly Part[]) =>
  inFile('gnuhealth', `connectors/gnuhealth/src/${file}`, parts);
const gpConnect = (file: string, parts: readonly Part[]) =>
  inFile('gp-connect', `connectors/gp-connect/src/${file}`, parts);
const rivta = (file: string, parts: readonly Part[]) =>
  inFile('rivta-scheduling', `connectors/rivta-scheduling/src/${file}`, parts);
const care = (file: string, parts: readonly Part[]) => inFile('care', `connectors/care/src/${file}`, parts);
const oscar = (file: string, parts: readonly Part[]) => inFile('oscar', `connectors/oscar/src/${file}`, parts);
const slotClaim = (file: string, parts: readonly Part[]) =>
  inFile('fhir-r4, slot claim', `connectors/fhir-r4/src/${file}`, parts);
const transaction = (file: string, parts: readonly Part[]) =>
  inFile('fhir-r4, transaction', `connectors/fhir-r4/src/${file}`, parts);
const toy = (file: string, parts: readonly Part[]) => inFile('template', `connector-kit/template/src/${file}`, parts);
const clinic = (file: string, parts: readonly Part[]) =>
  inFile('template-booking', `connector-kit/template-booking/src/${file}`, parts);

/** Put into the connectors one at a time. */
export const mutants: readonly Mutant[] = [
  ...gnuHealth('appointments/book.ts', [
    { name: 'takes a refused booking for its own', from: "if (outcome === 'refused') return undefined;", to: '' },
    {
      name: 'does not look whether somebody else has booked an overlapping time',
      from: 'if (booked.some((row) => row !== mine)) await giveBack(at, mine, patient);',
      to: '',
    },
    {
      name: 'says that a booking with an unknown outcome was not made',
      from: "throw new ConnectorError('outcome_unknown', 'A booking got no response, and the time is booked for the patient');",
      to: "throw new ConnectorError('unavailable', 'Try again', { nothingChanged: true });",
    },
    { name: 'forgets the comment', from: 'comments: comment, appointment_date_end', to: 'appointment_date_end' },
  ]),
  ...gnuHealth('patients.ts', [
    {
      name: 'books for a patient who does not exist',
      from: "const found = required(row, 'patient_not_found');",
      to: 'if (!row) return { patient: Number(patientId), isInactive: false };\n  const found = row;',
    },
    {
      name: 'does not say that a patient has died',
      from: '...(isInactive(row) ? { isInactive: true } : {}),',
      to: '',
    },
  ]),
  ...gnuHealth('appointments/cancel.ts', [
    {
      name: 'cancels without freeing the time',
      from: 'const freed = await freedBy(at, row);',
      to: 'const freed: object[] = [];',
    },
    { name: 'takes a refused cancellation for done', from: "if (outcome !== 'done') return undefined;", to: '' },
    {
      name: 'cancels a cancelled appointment again',
      from: "if (appointment.state === 'cancelled') return found;",
      to: '',
    },
  ]),
  ...gnuHealth('appointments/update.ts', [
    {
      name: 'revives a cancelled appointment',
      from: 'assertChangeable(appointment, false);',
      to: 'void assertChangeable;',
    },
    {
      name: 'takes a refused move for done',
      from: "      mayBeDone ||= outcome === 'undecided';\n      if (outcome !== 'done') return undefined;\n      await expectAlone",
      to: '      await expectAlone',
    },
    {
      name: 'loses the comment at a move',
      from: 'const write = { row, values: { ...values, ...time } };',
      to: 'const write = { row, values: { comments: null, ...values, ...time } };',
    },
    {
      name: 'does not free the former time',
      from: 'free, values, await freedBy(at, former))',
      to: 'free, values, [])',
    },
  ]),
  ...gnuHealth('appointments/book.ts', [
    {
      name: 'books at another institution',
      from: 'it.institution === institution && it.speciality',
      to: 'it.speciality',
      survives: 'No professional of its fake has times at two institutions.',
    },
  ]),
  ...gnuHealth('rpc/conditional-write.ts', [
    {
      name: 'ignores the version of a record',
      from: 'const send = (repeatable: boolean) => rpc.write(method, params, { context, repeatable });',
      to: 'void context; const send = (repeatable: boolean) => rpc.write(method, params, { context: {}, repeatable });',
    },
    {
      name: 'takes a conflict for done',
      from: "if ('result' in answer) return 'done';",
      to: "if ('result' in answer || isRace(answer.exception)) return 'done';",
    },
  ]),
  ...gnuHealth('appointments/rows.ts', [
    {
      name: 'reads the first page only',
      from: '    if (!isFull) {\n      yield rows;',
      to: '    if (rows.length >= 0 || isFull) {\n      yield rows;',
      survives: 'Its fake has fewer rows than a page.',
    },
  ]),
  ...gnuHealth('appointments/read.ts', [
    {
      name: 'cuts off a list before it is sorted out',
      from: 'return found.slice(0, limit);',
      to: 'return found.slice(0, limit - 1);',
    },
    {
      name: 'lists appointments of other care units',
      from: "    ...equal({ institution: unit.institution }),\n    ['state'",
      to: "    ['state'",
    },
  ]),
  ...gnuHealth('rpc/values.ts', [
    {
      name: 'reads times in the time zone of the process',
      from: 'return new Date(Date.UTC(year, month - 1, day, hour, minute, second, Math.floor(microsecond / 1000)));',
      to: 'return new Date(year, month - 1, day, hour, minute, second, Math.floor(microsecond / 1000));',
    },
    {
      name: 'writes times in the time zone of the process',
      from: 'hour: date.getUTCHours(),',
      to: 'hour: date.getHours(),',
    },
  ]),
  ...gnuHealth('appointments/changes.ts', [
    {
      name: 'reads no changes again',
      from: 'const overlapMilliseconds = 5 * 60_000;',
      to: 'const overlapMilliseconds = 0;',
    },
  ]),
  ...inFile('gnuhealth', 'connector-kit/src/rest/change-feed.ts', [
    {
      name: 'reports changes again and again',
      from: 'const isNew = ({ mark }: Item) => !known.has(mark);',
      to: 'const isNew = (_: Item) => known.size >= 0;',
    },
    {
      name: 'says that there is no more',
      from: 'const hasMore = isCut || page.length < changes.length;',
      to: 'const hasMore = (isCut || page.length < changes.length) && false;',
    },
  ]),
  ...gpConnect('client.ts', [
    {
      name: 'sends a write again',
      from: '        repeatable: false,\n        refused',
      to: '        repeatable: true,\n        refused',
    },
    {
      name: 'ignores the version',
      from: '...(ifMatch === undefined ? {} : { \'if-match\': `W/"${ifMatch}"` }),',
      to: "'if-match': 'W/\"1\"',",
    },
    {
      name: 'takes every answer for a refusal',
      from: 'refused: (answered) => failureOf(answered, interaction)?.isRefusal ?? false,',
      to: 'refused: () => true,',
    },
    {
      name: 'takes every failure for a refusal',
      from: 'if (failure) throw failure.isRefusal ? failure : unknown(interaction, failure);',
      to: "if (failure) throw new ConnectorError('rejected', 'No', { nothingChanged: true });",
    },
  ]),
  ...gpConnect('book.ts', [
    {
      name: 'books nothing and says that it has',
      from: 'if (result && isAsRequested(result, creation)) return result;',
      to: 'if (result) return { ...result, id: `${result.id}0` };',
    },
    { name: 'forgets the comment', from: '...(comment === null ? {} : { comment }),', to: '' },
    { name: 'books with any resource', from: 'resourceIdOf(it) === resourceId && ', to: '' },
    {
      name: 'books any service',
      from: ' && serviceOf(at, it)?.id === healthcareServiceId,',
      to: ',',
    },
    {
      name: 'tells a lost race as another refusal',
      from: "if (!(error instanceof ConnectorError) || error.kind !== 'time_slot_unavailable') throw error;",
      to: "if (error instanceof ConnectorError) throw new ConnectorError('rejected', 'No');",
    },
  ]),
  ...gpConnect('changes.ts', [
    {
      name: 'revives a cancelled appointment',
      from: '    assertChangeable(current, false);\n',
      to: '',
    },
    {
      name: 'gives up when somebody else was faster',
      from: 'if (error.mayBeStale && attempt < attempts && (await hasChanged(at, resource, error))) continue;',
      to: '',
    },
    {
      name: 'changes appointments of other care units',
      from: "{ current: required(await appointmentIn(at, resource), 'appointment_not_found'), resource }",
      to: '{ current: (await appointmentIn(at, resource)) as Appointment, resource }',
    },
  ]),
  ...gpConnect('slots.ts', [
    { name: 'reads the first two weeks only', from: '    from = next;', to: '    from = last;' },
  ]),
  ...gpConnect('spine-errors.ts', [
    {
      name: 'takes an error for an absence',
      from: 'if (error instanceof SpineError && error.isAbsence) return null;',
      to: 'if (error instanceof ConnectorError) return null;',
    },
  ]),
  ...gpConnect('appointments.ts', [
    {
      name: 'counts an appointment that cannot be read as gone',
      from: "throw new ConnectorError('rejected', `The EHR sent an appointment that cannot be read (${path})`);",
      to: 'return null;',
    },
  ]),
  ...rivta('changes.ts', [
    {
      name: 'books a time that is not free',
      from: 'if (!slot) throw timeTaken();\n  const namespace',
      to: "if (!slot) throw new ConnectorError('rejected', 'No');\n  const namespace",
    },
    {
      name: 'takes a refused booking for made',
      from: 'if (!outcome.isDone) throw await refusal(outcome, find);',
      to: '',
    },
    {
      name: 'takes a refused cancellation for made',
      from: 'if (!outcome.isDone && (await isListed(at, key))) throw refused(outcome);',
      to: '',
      survives: 'Its fake refuses no cancellation that the flags of the booking allow.',
    },
    {
      name: 'loses the comment at a move',
      from: 'const reason = comment === undefined ? (booking.texts.reason ?? null) : asXmlText(comment);',
      to: 'const reason = comment === undefined ? null : asXmlText(comment);',
    },
  ]),
  ...rivta('soap.ts', [
    {
      name: 'sends a write again',
      from: '    repeatable: reads,\n',
      to: '    repeatable: true,\n    writes: !reads,\n',
    },
    {
      name: 'takes what is no answer for a refusal',
      from: "const kind = reads || wasRefused ? 'rejected' : 'outcome_unknown';",
      to: "const kind = 'rejected' as const; void wasRefused; void reads;",
    },
  ]),
  ...rivta('local-time.ts', [
    {
      name: 'offers the hour that autumn repeats',
      from: "if (starts.length === 0 || (starts.length > 1 && rule === 'refuse')) return 'not offered';",
      to: "if (starts.length === 0) return 'not offered';",
    },
    {
      name: 'does not know an end at the clock change',
      from: 'return firstPeriod(inOrder(starts, rule), reachedAt(to, timeZone));',
      to: 'return firstPeriod(inOrder(starts, rule), localInstants(timeZone, to.toString()));',
    },
  ]),
  ...rivta('slots.ts', [
    {
      name: 'searches by the dates of Greenwich',
      from: 'startDateInclusive: localDate(start, timeZone),',
      to: "startDateInclusive: localDate(start, 'Pacific/Kiritimati'),",
    },
    {
      name: 'finds times of another unit',
      from: 'if (slot && isOther) return undefined;',
      to: 'void isOther;',
      survives: 'Its fake answers with the times of the unit that is asked for.',
    },
  ]),
  ...rivta('bookings.ts', [
    { name: 'counts a booking that cannot be read as gone', from: 'if (id !== undefined) unreadable.add(id);', to: '' },
  ]),
  ...care('changes.ts', [
    {
      name: 'forgets the comment',
      from: "note: comment ?? '' };",
      to: "note: '' };",
    },
    {
      name: 'does not look whether somebody else was booked',
      from: 'if (await standsAlone(made, lookAt(at, resource, made))) return toAppointment(at, made);',
      to: 'return toAppointment(at, made);',
    },
    {
      name: 'revives what staff have cancelled',
      from: "if (toAppointment(at, now).state === 'cancelled') {",
      to: "if (now.status === 'never') {",
    },
    {
      name: 'loses the comment at a move',
      from: "sent = (update.comment === undefined ? note : update.comment) ?? '';",
      to: "sent = update.comment ?? ''; void note;",
    },
    {
      name: 'cancels a visit that has started',
      from: '  assertNotStarted(appointment);\n  const body',
      to: '  void assertNotStarted;\n  const body',
    },
  ]),
  ...care('time-slots.ts', [
    {
      name: 'counts no bookings',
      from: 'const isFree = slot.allocated - leaving < places && there.length - leaving < places;',
      to: 'const isFree = leaving >= 0 && places > 0 && there.length >= 0;',
    },
    {
      name: 'does not free what leaves',
      from: 'const leaving = there.filter(({ id }) => freeing.includes(id)).length;',
      to: 'const leaving = freeing.length * 0;',
    },
  ]),
  ...oscar('changes.ts', [
    {
      name: 'does not look whether somebody else was booked',
      from: 'if (await isAlone(at, made, parts)) return shown(at, made);',
      to: 'void parts; return shown(at, made);',
    },
    {
      name: 'leaves out the turns',
      from: 'return inTurns(inTurn, [...days, ...ids.map((id) => `appointment ${id}`)], run);',
      to: 'void [inTurn, days, ids, inTurns]; return run();',
    },
    {
      name: 'books a record that is out of use or unknown',
      from: "if (!patient) throw new ConnectorError('patient_not_found', 'No such patient');",
      to: "if (!patient) throw new ConnectorError('rejected', 'No');",
    },
    {
      name: 'forgets the comment',
      from: 'notes: notesFor(comment),\n    ...{ resources',
      to: "notes: '',\n    ...{ resources",
    },
    {
      name: 'does not look whether the new time has room',
      from: 'if (await fits(at, target, id)) return shown(at, moved);',
      to: 'return shown(at, moved);',
    },
    {
      name: 'books a time with a gap',
      from: 'if (!coversWithoutGap(parts, { start, end })) throw timeTaken();',
      to: 'void coversWithoutGap;',
    },
    {
      name: 'cancels a visit that has started',
      from: '    assertNotStarted(standingOf(row));\n',
      to: '    void assertNotStarted;\n',
    },
  ]),
  ...inFile('oscar', 'connector-kit/src/rest/changeable.ts', [
    {
      name: 'revives a cancelled appointment',
      from: "if (appointment.state === 'cancelled') {",
      to: "if (appointment.state === 'pending') {",
    },
  ]),
  ...oscar('time-slots.ts', [
    {
      name: 'does not free what leaves',
      from: 'const others = rows.filter(({ id }) => !freeing.includes(id));',
      to: 'const others = rows.filter(() => freeing.length >= 0);',
    },
    {
      name: 'counts cancelled appointments',
      from: "return rows.filter((it) => standingOf(it).state !== 'cancelled');",
      to: "return rows.filter((it) => standingOf(it).state !== ('never' as string));",
    },
    {
      name: 'is open on holidays and closed else',
      from: "if (!schedule || holiday === 'true' || !isWritable(minutes)) return [];",
      to: "if (!schedule || holiday !== 'true' || !isWritable(minutes)) return [];",
    },
  ]),
  ...oscar('appointments.ts', [
    {
      name: 'shows appointments of other care units',
      from: "return fields.demographicNo !== '0' && unit.providers.some((it) => it === fields.providerNo);",
      to: "void unit; return fields.demographicNo !== '0';",
    },
    {
      name: 'takes a bad record for one that is gone',
      from: "if (row?.id !== id) throw new ConnectorError('rejected', 'The EHR sent an appointment that cannot be read');",
      to: 'if (row?.id !== id) return undefined;',
    },
    {
      name: 'shows cancelled appointments as booked',
      from: "C: ['cancelled', null],",
      to: "C: ['booked', null],",
    },
  ]),
  ...slotClaim('booking/slot-claim/claim.ts', [
    {
      name: 'takes a lost claim for its own',
      from: 'if (error instanceof LostRace || !isUntouched) throw new LostRace();',
      to: 'if (error instanceof LostRace || !isUntouched) return current ?? wanted;',
    },
  ]),
  ...slotClaim('server/create.ts', [
    {
      name: 'sends a create again',
      from: "          headers: ifNoneExist === undefined ? {} : { 'if-none-exist': ifNoneExist },\n          repeatable: false,",
      to: '          headers: {},\n          repeatable: true,\n          writes: true,',
    },
  ]),
  ...slotClaim('booking/slot-claim/steps.ts', [
    {
      name: 'keeps the time after a refusal',
      from: 'if (!isUnknown(error)) await giveAllBack(ehr, claimed);',
      to: 'void giveAllBack;',
    },
    {
      name: 'does not free the times that are left',
      from: 'if (once) await freeSlots(ehr, plan, claimed);',
      to: 'void freeSlots;',
    },
  ]),
  ...slotClaim('booking/changes/rules.ts', [
    {
      name: 'revives a cancelled appointment',
      from: "if (state === 'cancelled') throw new ConnectorError('appointment_cancelled', 'The appointment is cancelled');",
      to: '',
    },
    {
      name: 'confirms what is no hold',
      from: "      if (state === 'cancelled') throw timeTaken();\n      throw notHeld();\n    case 'extend'",
      to: "      return { after: booked(appointment), slots: 'book' };\n    case 'extend'",
    },
    { name: 'releases a booking', from: "if (state !== 'held' && !hasExpired) throw notHeld();", to: '' },
  ]),
  ...slotClaim('server/search.ts', [
    {
      name: 'reads the first page only',
      from: '      const url = next(bundle);',
      to: '      const url = next(bundle) && undefined;',
    },
  ]),
  ...transaction('booking/transaction/transaction-write.ts', [
    {
      name: 'writes slots whatever their version',
      from: "request: { method: 'PUT', url: reference, ifMatch: weakTag(versionOf(before)) } };",
      to: "request: { method: 'PUT', url: reference, ...(before ? {} : { ifMatch: weakTag(versionOf(before)) }) } };",
    },
    {
      name: 'takes a broken transaction for refused',
      from: 'if (isBroken(response.status) || response.ok) throw unknownOutcome(response.rejection);',
      to: "if (isBroken(response.status) || response.ok) throw new ConnectorError('rejected', 'No', { nothingChanged: true });",
    },
  ]),
  ...toy('patients.ts', [
    {
      name: 'takes the first of several patients',
      from: '  if (more.length > 0)\n    throw',
      to: '  if (more.length < 0)\n    throw',
    },
    {
      name: 'searches for one spelling of a number',
      from: '{ nhs: spellingsOf(nhsNumber(identifier)) }',
      to: '{ nhs: [identifier.value] }',
    },
    {
      name: 'takes an error for an absence',
      from: '  if (status !== 200)\n',
      to: '  if (status !== 200) return null;\n  if (status < 200)\n',
    },
    {
      name: 'shows numbers as they are written',
      from: "const number = numberIn('nhs_number', nhs);",
      to: 'const number = nhs ?? undefined; void numberIn;',
    },
  ]),
  ...clinic('appointment-writes.ts', [
    {
      name: 'forgets the comment',
      from: 'service: healthcareServiceId, note: comment };',
      to: 'service: healthcareServiceId };',
    },
    {
      name: 'finds no write',
      from: '  return kept ? [appointment(at, kept)] : null;',
      to: '  void kept; return null;',
    },
    {
      name: 'does not look whether the write was made before',
      from: '  if (known) return known;',
      to: '  void known;',
    },
    {
      name: 'does not look whether its twin has taken the time',
      from: '    if (made) return made;',
      to: '    void made;',
    },
    {
      name: 'keeps the practitioner at a move',
      from: 'resourceId: resourceId ?? before.practitioner,',
      to: 'resourceId: before.practitioner,',
    },
    {
      name: 'does not look who was first in the slot',
      from: '  if (first.id === made.id || !takesSlot(made)) return made;',
      to: '  if (first) return made;',
    },
    {
      name: 'counts cancelled appointments as first in the slot',
      from: 'it.slot === made.slot && takesSlot(it) && it.place',
      to: 'it.slot === made.slot && it.place',
    },
    {
      name: 'keeps its own booking beside the first',
      from: '  await at.client.write(`/appointments/${made.id}/delete`, { department });\n',
      to: '',
    },
    {
      name: 'sends the former comment along with a move',
      from: 'slot: slot?.id, note: comment };',
      to: 'slot: slot?.id, note: comment === undefined ? before.note : comment };',
    },
  ]),
  ...clinic('ehr-client.ts', [
    {
      name: 'sends a write again after a lost answer',
      from: 'write: async (path, body) => answerIn(await client.write(path, body)).entries,',
      to: 'write: async (path, body) => answerIn(await client.ask(path, body)).entries,',
    },
    {
      name: 'does not sign in again when its token has ended',
      from: '({ status }) => status === 401,',
      to: '({ status }) => status === 0,',
    },
    {
      name: 'reads the first page only',
      from: '        if (next === undefined || entries.length === 0) return found;\n',
      to: '        if (entries.length >= 0) return found;\n',
    },
    { name: 'takes a lost time for another refusal', from: "  not_free: 'time_slot_unavailable',\n", to: '' },
  ]),
  ...clinic('records.ts', [
    {
      name: 'hides a list behind a bad record',
      from: 'entries.flatMap((entry) => countedRecord({ leftOut }, name, schema, entry) ?? [])',
      to: 'entries.map((entry) => readable({ name, schema }, entry))',
    },
    {
      name: 'leaves out bad records, and counts none',
      from: 'countedRecord({ leftOut }, name, schema, entry) ?? []',
      to: 'readRecord(schema, entry).record ?? []',
    },
  ]),
  ...clinic('appointment-reads.ts', [
    {
      name: 'shows cancelled appointments as booked',
      from: "state: takesSlot(found) ? 'booked' : 'cancelled',",
      to: "state: 'booked',",
    },
    {
      name: 'shows an appointment that was missed as booked',
      from: "!['cancelled', 'no_show', 'deleted']",
      to: "!['cancelled', 'deleted']",
    },
    {
      name: 'lists appointments of every patient',
      from: '{ ...at.unit, patient: patientId, ...days }',
      to: '{ ...at.unit, ...days }',
    },
  ]),
  ...clinic('appointment-changes.ts', [
    {
      name: 'looks only for changes since it looked last',
      from: 'const overlapMilliseconds = 60_000;',
      to: 'const overlapMilliseconds = 0;',
    },
    {
      name: 'takes two changes of a moment for one',
      from: 'markOf(unit.careUnit.id, it.id, it.version)',
      to: 'markOf(unit.careUnit.id, it.changed)',
    },
    {
      name: 'lists the newest change first',
      from: 'changes.sort((a, b) => a.at - b.at)',
      to: 'changes.sort((a, b) => b.at - a.at)',
    },
  ]),
  ...clinic('patients.ts', [
    {
      name: 'takes the first of several patients',
      from: "onlyPatient((await readAll(clinic, '/patients/search', search, patientKind)).map(patient))",
      to: "(await readAll(clinic, '/patients/search', search, patientKind)).map(patient)[0] ?? null; void onlyPatient",
    },
    {
      name: 'does not say that a patient has died',
      from: '...(died ? { isInactive: true } : {}),',
      to: '...(died ? {} : {}),',
    },
  ]),
  ...clinic('times.ts', [
    {
      name: 'leaves out the last day of a range',
      from: '[dates[0], dates.at(-1)]',
      to: '[dates[0], dates.at(-2) ?? dates[0]]',
    },
  ]),
  ...clinic('time-slots.ts', [
    {
      name: 'does not free the time of an appointment',
      from: 'isFree || freedIds.includes(id)',
      to: 'isFree || freedIds.slice(1).includes(id)',
    },
    {
      name: 'lists slots of everything that is taken',
      from: '({ id, isFree }) => isFree ||',
      to: "({ id, isFree }) => isFree || id !== '' ||",
    },
  ]),
];
