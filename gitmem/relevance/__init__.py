"""What words of a text count, and how well a record fits a question. Pure: no disk, no database, no clock."""
