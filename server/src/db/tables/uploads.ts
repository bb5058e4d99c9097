import type { Generated } from 'kysely';

interface UploadRow {
  id: string;
  operation_id: Generated<string | null>;
  created_at: Generated<Date>;
}

interface UploadChunkRow {
  upload_id: string;
  position: number;
  sealed_content: Buffer;
}

export interface UploadTables {
  uploads: UploadRow;
  upload_chunks: UploadChunkRow;
}
