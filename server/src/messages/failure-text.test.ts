import { expect, test } from 'vitest';
import { messageFailureText } from './failure-text.ts';

test.each([
  ['connection_refused', 'connection refused by sms.example:443'],
  ['host_unknown', 'unknown host name sms.example'],
  ['timeout', 'no response from sms.example:443 in time'],
  ['http_503', 'status 503 from sms.example:443'],
  ['smtp_451', 'reply 451 from sms.example:443'],
  ['twilio_21211', 'error 21211 of Twilio'],
  ['credentials_rejected', 'sms.example:443 rejected the user name or password'],
  ['credentials_rejected_535', 'sms.example:443 rejected the user name or password (535)'],
  ['elks_failed', 'the provider reports that it failed'],
  ['a_later_reason', 'a_later_reason'],
])('%s is shown as "%s"', (reason, text) => {
  expect(messageFailureText(reason, 'sms.example:443')).toBe(text);
});

test('names no address if the provider has none', () => {
  expect(messageFailureText('connection_refused')).toBe('connection refused by the provider');
});
