"""What gitmem does, one verb a file. Hosts call ``Memory``; its methods are the table of contents."""
