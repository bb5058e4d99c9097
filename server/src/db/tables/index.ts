import type { AuditTables } from './audit.ts';
import type { ClientTables } from './clients.ts';
import type { ConfirmationTables } from './confirmations.ts';
import type { ConsoleTables } from './console.ts';
import type { EhrChangeTables } from './ehr-changes.ts';
import type { EventTables } from './events.ts';
import type { MessageTables } from './messages.ts';
import type { MovedAppointmentTables } from './moved-appointments.ts';
import type { OperationTables } from './operations.ts';
import type { SecretKeyTables } from './secret-keys.ts';
import type { StoredEmrTables } from './stored-emrs.ts';
import type { UploadTables } from './uploads.ts';
import type { WebhookTables } from './webhooks.ts';

/** The gateway's own tables. One file for each domain, as with the migrations. */
export interface Tables
  extends AuditTables,
    ClientTables,
    ConfirmationTables,
    ConsoleTables,
    EhrChangeTables,
    EventTables,
    MessageTables,
    MovedAppointmentTables,
    OperationTables,
    SecretKeyTables,
    StoredEmrTables,
    UploadTables,
    WebhookTables {}
