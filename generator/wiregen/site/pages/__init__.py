"""The site of protocols: pages made from their models. Each example is decoded while its page is made."""
