import { type OddRecords, type PlainHttp, plainHttp } from '@crossward/connector-kit/conformance';

/** For tests: an HTTP client that alters records of the answers, as an EHR may send what other programs have written. */
export interface SpoiledAnswers {
  readonly http: PlainHttp;
  readonly oddRecords: Omit<OddRecords, 'leftOut'>;
}

type Entry = Readonly<Record<string, unknown>>;

export function spoiledAnswers(): SpoiledAnswers {
  const plain = plainHttp();
  let spoil = (_path: string, entry: Entry): Entry => entry;
  const breaking = async (path: string, isIt: (entry: Entry) => boolean, broken: Entry) => {
    spoil = (at, entry) => (at === path && isIt(entry) ? { ...entry, ...broken } : entry);
    return async () => {
      spoil = (_, entry) => entry;
    };
  };
  return {
    http: {
      ...plain,
      async send(request) {
        const response = await plain.send(request);
        const path = new URL(request.url).pathname;
        // The kit sends pages of proxies, too.
        if (!response.text.startsWith('{')) return response;
        const { entries, ...rest } = JSON.parse(response.text) as { readonly entries?: readonly Entry[] };
        const text = JSON.stringify({ ...rest, entries: entries?.map((it) => spoil(path, it)) });
        return { ...response, text };
      },
    },
    oddRecords: {
      breakAppointment: ({ id }) => breaking('/appointments/search', (it) => it.id === id, { start: 'soon' }),
      breakPatient: (id) => breaking('/patients/search', (it) => it.id === id, { given: ['Merry'] }),
      breakTimeSlot: ({ start, resourceId }) => {
        const isIt = (it: Entry) => it.practitioner === resourceId && it.start === start.toISOString();
        return breaking('/slots/search', isIt, { end: 7 });
      },
    },
  };
}
