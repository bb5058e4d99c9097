/** What a caller is answered, before it is serialised. */
export interface Answer {
  readonly body: object;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}
