chan q = [1] of { byte };
active proctype P() { chan own = [1] of { chan }; chan r; byte v; own!q; own?r; r!1; r?v; skip; skip }
