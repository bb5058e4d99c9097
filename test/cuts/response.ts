interface Confirmation {
  readonly id: string;
  readonly page_url: string | null;
}

export interface Body {
  readonly id?: string;
  readonly reason?: string;
  readonly retryable?: boolean;
  readonly confirmation?: Confirmation | null;
  readonly appointments?: readonly { readonly id: string; readonly confirmation?: Confirmation | null }[];
  readonly secret?: string;
  /** Of a form. */
  readonly isSentBefore?: boolean;
}

export interface Response {
  readonly status: number;
  readonly retryAfterSeconds: number;
  readonly body: Body;
}
