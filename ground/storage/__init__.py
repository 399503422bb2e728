"""Where things lie: files, the workspace, the warehouse, SQL files, data tables, object storage, loads."""
