-- A turn outlives a crash of the database and a change of its primary server: the write that it is for may still be on its way.
ALTER TABLE ehr_exclusive_turns SET LOGGED;
